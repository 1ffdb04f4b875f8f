// Generated from the server's OpenAPI document and its signals: do not edit, run `make docs`.


export type ActiveBranch = { readonly branch: string };

export type ActiveContext = { readonly context_id: string | null };

export type AnswersBody = { readonly answers?: readonly (string)[]; readonly decline?: boolean; readonly call_id?: string | null };

export type Approve = { readonly digest?: string | null; readonly arguments?: { readonly [name: string]: unknown } | null; readonly edited_digest?: string | null; readonly always?: "exact" | "exact_for_good" | "folder" | "folder_for_good" | "tool" | "tool_for_good" | "words" | "words_for_good" | null };

export type ApproveAll = { readonly ids?: readonly (string)[] | null };

export type AuditChain = { readonly whole: boolean; readonly confirmed: boolean; readonly broken_at?: number | null };

export type AuditEntry = { readonly sequence: number; readonly kind: "branch_deleted" | "branches_merged" | "call_decided" | "call_ended" | "call_started" | "calls_proposed" | "change_undone" | "command_by_person" | "compression_undone" | "context_created" | "elevated" | "elevation_ended" | "elevation_started" | "folder_distrusted" | "folder_trusted" | "history_compressed" | "mode_switched" | "persona_set" | "policy_set" | "prompt_changed" | "question_answered" | "recovered" | "resource_added" | "rule_given" | "rule_revoked" | "turn_cancelled" | "turn_paused" | "turn_resumed" | "upload_copied" | "upload_removed"; readonly at: string; readonly by: string; readonly detail?: { readonly [name: string]: unknown }; readonly previous: string; readonly hash: string };

export type AuditedPageAuditEntry = { readonly items: readonly (AuditEntry)[]; readonly next?: string | null; readonly chain: AuditChain };

export type AuditedPageWhyStep = { readonly items: readonly (WhyStep)[]; readonly next?: string | null; readonly chain: AuditChain };

export type AwaitingLLMFirstChunk = { readonly type: "awaiting_llm_first_chunk" };

export type AwaitingToolApproval = { readonly type: "awaiting_tool_approval"; readonly pending_requests: readonly (string)[]; readonly tool_names: readonly (string)[]; readonly total?: number };

export type AwaitingUserAnswer = { readonly type: "awaiting_user_answer"; readonly question_ids: readonly (string)[]; readonly total?: number };

export type BranchChange = { readonly prompt_addition: string | null };

export type BranchFork = { readonly position: number; readonly message_id: string; readonly sibling_id: string };

export type BranchQuery = { readonly branch?: string | null };

export type BranchView = { readonly name: string; readonly key: string; readonly created_at: string; readonly parent_branch?: string | null; readonly prompt_addition?: string | null; readonly length: number; readonly merged?: readonly (MergedBlock)[]; readonly compressed?: Compressed | null; readonly original_of?: string | null; readonly fork?: BranchFork | null; readonly message_ids?: readonly (string)[] };

export type CallDecision = { readonly id: string; readonly verdict: "approve" | "reject"; readonly digest?: string | null; readonly arguments?: { readonly [name: string]: unknown } | null; readonly edited_digest?: string | null; readonly reason?: string | null; readonly always?: "exact" | "exact_for_good" | "folder" | "folder_for_good" | "tool" | "tool_for_good" | "words" | "words_for_good" | null };

export type CallView = { readonly id: string; readonly message_id: string; readonly tool: string; readonly display_name: string; readonly arguments: unknown; readonly digest: string; readonly preview?: string | null; readonly preview_kind?: "definition_change" | "file_change" | "text"; readonly shown_arguments?: readonly (string)[]; readonly touches?: readonly (string)[] | null; readonly effect: "delegating" | "mutating" | "question" | "read_only" | "unknown"; readonly read_only: boolean; readonly dangerous?: readonly (string)[]; readonly lookalikes?: string; readonly may_change?: boolean; readonly status: "approved" | "cancelled" | "denied" | "executed" | "executing" | "failed" | "interrupted" | "pending" | "rejected"; readonly rule_offers?: readonly (RuleOptionOffer)[]; readonly origin?: string | null; readonly requested_at: string; readonly decided_at?: string | null; readonly decided_by?: string | null; readonly started_at?: string | null; readonly finished_at?: string | null; readonly edited?: boolean; readonly confined?: boolean; readonly output?: string | null; readonly reason?: Reason | null; readonly exit_status?: number | null; readonly result_id?: string | null; readonly result?: string | null };

export type CallsQuery = { readonly status?: "approved" | "cancelled" | "denied" | "executed" | "executing" | "failed" | "interrupted" | "pending" | "rejected" | null; readonly limit?: number; readonly cursor?: string | null };

export type Cancelling = { readonly type: "cancelling" };

export type ChatBody = { readonly message: string; readonly files?: readonly (string)[] | null; readonly mode?: string | null };

export type Choice = { readonly index?: number; readonly message: { readonly [name: string]: string }; readonly finish_reason?: "content_filter" | "length" | "stop" };

export type ClientMetadata = { readonly display_text?: string | null; readonly trace_id?: string | null; readonly extra?: { readonly [name: string]: unknown } };

export type Code = "ambiguous_decision" | "ancestor_denied" | "ancestor_waits" | "answer_filtered" | "answer_refused" | "answer_restarted" | "answer_too_long" | "approved" | "arguments_cut" | "arguments_edited" | "audit_broken" | "audit_changed" | "audit_cut" | "audit_lost" | "audit_not_confirmed" | "audit_whole" | "bad_line_range" | "body_too_large" | "body_too_slow" | "branch_exists" | "branch_in_use" | "call_decided" | "cancelled" | "cannot_listen" | "change_not_kept" | "change_undone" | "cleans_data" | "code_files_changed" | "command_files_changed" | "command_not_checked" | "command_usage" | "config_missing" | "context_damaged" | "context_exists" | "data_in_repository" | "delegation_too_deep" | "digest_changed" | "directory_denied" | "directory_waits" | "disk_space_low" | "document_damaged" | "edit_without_arguments" | "elevated" | "elevation_calls" | "elevation_end" | "elevation_minutes" | "elevation_offered" | "elevation_runs" | "elevation_without_turn" | "empty_answer" | "empty_message" | "encoding_contradicted" | "encoding_stateful" | "encoding_uncertain" | "environment_not_text" | "environment_too_long" | "file_changed" | "file_changed_since_read" | "file_exists" | "file_has_comments" | "file_missing" | "file_not_text" | "file_not_writable" | "file_read_only" | "file_too_large" | "file_unreadable" | "foreign_host" | "foreign_origin" | "format_too_new" | "forwarded_scheme" | "git_created" | "git_index" | "git_moved" | "git_other" | "git_references" | "git_removed" | "git_switched" | "hidden_texts" | "ignored_grant" | "ignored_key" | "image_address" | "image_base64" | "image_elsewhere" | "image_kind" | "image_source" | "image_too_large" | "image_unseen" | "internal" | "interrupted" | "interrupted_call" | "invalid_address" | "invalid_answers" | "invalid_arguments" | "invalid_base_url" | "invalid_config" | "invalid_cursor" | "invalid_export" | "invalid_extension" | "invalid_id" | "invalid_name" | "invalid_notebook" | "invalid_number" | "invalid_path" | "invalid_pattern" | "invalid_payload" | "invalid_request" | "invalid_tool" | "invalid_workspace" | "journal_gap" | "key_reused" | "limit_cost" | "limit_repeated_call" | "limit_rounds" | "limit_tokens" | "limit_turn_time" | "link_expired" | "may_have_run" | "mcp_failed" | "mcp_folder_missing" | "mcp_http_status" | "mcp_no_endpoint" | "mcp_not_mcp" | "mcp_program_ended" | "mcp_program_missing" | "mcp_program_prints" | "mcp_redirect" | "mcp_refused" | "mcp_silent" | "mcp_tls" | "mcp_unauthorized" | "mcp_unknown_host" | "mcp_unreachable" | "merge_ids" | "merge_into_itself" | "merge_not_on_source" | "message_damaged" | "message_incomplete" | "messages_left_out" | "messages_shortened" | "metadata_rebuilt" | "method_not_allowed" | "missing_key" | "mode_denied" | "mode_runs" | "mode_waits" | "model_auth" | "model_connect" | "model_cut" | "model_endless" | "model_garbled" | "model_overloaded" | "model_rate_limited" | "model_refused" | "model_timeout" | "model_too_long" | "no_elevation" | "no_output" | "no_question" | "no_server" | "no_such_path" | "nobody_here" | "not_a_directory" | "not_a_file" | "not_compressed" | "not_continuable" | "not_done" | "not_elevatable" | "not_encodable" | "not_http" | "not_json" | "not_pausable" | "not_paused" | "not_run" | "not_text" | "nothing_to_cancel" | "nothing_to_compress" | "nothing_to_resume" | "nothing_to_retry" | "nothing_to_undo" | "ocr_empty" | "ocr_failed" | "ocr_missing" | "ocr_timed_out" | "only_local" | "only_local_user" | "original_gone" | "outside_base_path" | "outside_roots" | "outside_workspace" | "page_not_built" | "path_too_long" | "persona_denied" | "pins_shortened" | "plan_denied" | "policy_depth" | "policy_tools" | "policy_waits" | "port_taken" | "processor_failed" | "protected_path" | "query_too_large" | "question" | "queue_full" | "reach_changed" | "rejected" | "rejected_by_switch" | "results_cut" | "round_denied" | "rule_allows" | "rule_asks" | "rule_denies" | "rule_folder" | "rule_in_file" | "rule_may_apply" | "rule_minutes" | "rule_not_offered" | "rule_with_edit" | "rule_without_tool" | "rule_words" | "rules_cut" | "rules_damaged" | "rules_in_doubt" | "runs_code" | "runtime_closed" | "sandbox_incomplete" | "sandbox_too_many_entries" | "script_exhausted" | "script_invalid" | "server_folder" | "server_key_twice" | "server_name" | "server_name_taken" | "server_stopping" | "server_transport" | "server_two_targets" | "server_variable" | "server_without_target" | "session_damaged" | "settings_wait" | "setup_fixed" | "shared_server" | "stale_fence" | "stale_session" | "stale_version" | "store_locked" | "store_read_only" | "store_refused" | "store_unavailable" | "subagent_ended" | "subagent_incomplete" | "tail_cut" | "text_not_found" | "text_not_unique" | "text_too_large" | "token_from_environment" | "token_needed" | "tokens_damaged" | "too_many_attempts" | "too_many_bodies" | "too_many_connections" | "too_many_connections_of_user" | "too_many_decisions" | "too_many_edits" | "too_many_imports" | "too_many_matches" | "too_many_pins" | "too_many_rules" | "too_many_streams" | "too_many_streams_of_user" | "too_many_tabs" | "too_many_uploads" | "too_many_values" | "tool_changed" | "tool_disabled" | "tool_failed" | "tool_needs" | "tool_timed_out" | "tool_twice" | "trust_changed" | "turn_active" | "unauthorized" | "undo_asks" | "undo_conflict" | "undo_coverage" | "undo_expired" | "undo_ignored" | "undo_incomplete" | "undo_interrupted" | "undo_nothing" | "undo_over_budget" | "undo_refused" | "undo_set_aside" | "undo_special" | "undo_too_large" | "undo_too_many" | "undo_unkept" | "undo_unknown" | "undo_unreadable" | "undo_unseen" | "unknown_branch" | "unknown_call" | "unknown_cell" | "unknown_context" | "unknown_encoding" | "unknown_message" | "unknown_mode" | "unknown_model" | "unknown_persona" | "unknown_queued" | "unknown_rule" | "unknown_server" | "unknown_tool" | "unknown_upload" | "unknown_user" | "unsupported_payload" | "unsupported_type" | "upload_left_out" | "upload_name" | "upload_not_stored" | "upload_read_only" | "uploads_full" | "uploads_not_kept" | "uploads_reserved" | "user_exists" | "user_root_missing" | "user_root_outside" | "user_table_unused" | "weak_token" | "why_approved" | "why_deny" | "why_ended" | "why_rejected" | "why_run" | "why_started" | "why_wait" | "window_full" | "wrong_token";

export type CollectingToolResults = { readonly type: "collecting_tool_results" };

export type Completion = { readonly id: string; readonly object?: "chat.completion"; readonly created: number; readonly model: string; readonly choices: readonly (Choice)[]; readonly usage: { readonly [name: string]: number } };

export type CompletionBody = { readonly messages: readonly (PromptMessage)[]; readonly model?: string | null; readonly stream?: boolean; readonly metadata?: CompletionMetadata | null };

export type CompletionMetadata = { readonly context_id?: string | null };

export type CompressBody = { readonly preview?: boolean; readonly focus?: string | null };

export type Compressed = { readonly original: string; readonly length: number; readonly kept: number; readonly head: number; readonly summary_id: string };

export type CompressingMessages = { readonly type: "compressing_messages"; readonly messages_to_compress: number };

export type Compression = { readonly branch: string; readonly strategy: string; readonly messages: number; readonly messages_kept: number; readonly pinned: number; readonly tokens_before: number; readonly tokens_after: number; readonly tokens_saved: number; readonly summary_id?: string | null; readonly original?: string | null; readonly how?: "model" | "recent_n" | "truncated" | null; readonly why?: Reason | null };

export type ConfigView = { readonly persona?: string | null; readonly policy?: Policy | null; readonly model?: string | null; readonly temperature?: number | null; readonly max_output_tokens?: number | null; readonly rules?: readonly (Rule)[] };

export type ConnectingToLLM = { readonly type: "connecting_to_llm" };

export type ContentDelta = { readonly event: "ContentDelta"; readonly context_id: string; readonly version: number; readonly message_id: string; readonly sequence: number };

export type ContentPart = { readonly type: string; readonly text?: string | null };

export type ContentQuery = { readonly from_sequence?: number };

export type ContextChange = { readonly title?: string; readonly archived?: boolean; readonly persona?: string | null; readonly model?: string | null; readonly temperature?: number | null; readonly max_output_tokens?: number | null; readonly policy?: Policy | null };

export type ContextChanged = { readonly event: "ContextChanged"; readonly context_id: string; readonly version: number; readonly fields: readonly (string)[] };

export type ContextChoice = { readonly context_id: string };

export type ContextSummary = { readonly context_id: string; readonly title?: string | null; readonly mode?: string | null; readonly state?: Idle | AwaitingToolApproval | AwaitingUserAnswer | Paused | WaitingForRecovery | Failed | Initializing | ProcessingUserMessage | ResolvingFileReferences | EnhancingSystemPrompt | OptimizingContext | PreparingLLMRequest | ConnectingToLLM | AwaitingLLMFirstChunk | StreamingLLMResponse | ProcessingLLMResponse | TransientError | ParsingToolCalls | ExecutingTool | CollectingToolResults | ProcessingToolResults | ToolAutoLoop | SwitchingBranch | MergingBranches | SavingContext | SavingMessage | LoadingMessages | CompressingMessages | GeneratingSummary | Cancelling | null; readonly updated_at?: string; readonly workspace?: string | null; readonly owner?: string | null; readonly parent?: string | null; readonly archived?: boolean; readonly usage?: Usage; readonly damage?: Reason | null };

export type ContextView = { readonly context_id: string; readonly version: number; readonly title: string | null; readonly current_state: Idle | AwaitingToolApproval | AwaitingUserAnswer | Paused | WaitingForRecovery | Failed | Initializing | ProcessingUserMessage | ResolvingFileReferences | EnhancingSystemPrompt | OptimizingContext | PreparingLLMRequest | ConnectingToLLM | AwaitingLLMFirstChunk | StreamingLLMResponse | ProcessingLLMResponse | TransientError | ParsingToolCalls | ExecutingTool | CollectingToolResults | ProcessingToolResults | ToolAutoLoop | SwitchingBranch | MergingBranches | SavingContext | SavingMessage | LoadingMessages | CompressingMessages | GeneratingSummary | Cancelling; readonly mode: string; readonly active_branch: string; readonly branches: { readonly [name: string]: BranchView }; readonly workspace: string | null; readonly config: ConfigView; readonly usage: Usage; readonly pins: readonly (string)[]; readonly pending_tool_calls: readonly (CallView)[]; readonly open_questions: readonly (CallView)[]; readonly queued: number; readonly elevation: Elevation | null; readonly turn: TurnView | null; readonly last_turn: "cancelled" | "complete" | "denied" | "error" | "interrupted" | "limit" | "rejected"; readonly streaming: StreamingView | null; readonly parent: string | null; readonly waiting_below: readonly (string)[]; readonly archived: boolean; readonly damage: readonly (Reason)[]; readonly created_at: string; readonly updated_at: string };

export type CopyBody = { readonly path?: string | null };

export type DataContext = { readonly label: string; readonly path: string; readonly preview: string };

export type Decide = { readonly decisions: readonly (CallDecision)[]; readonly shown?: readonly (string)[] | null };

export type Delta = { readonly sequence: number; readonly delta: string };

export type Edit = { readonly arguments: { readonly [name: string]: unknown } };

export type EditPreview = { readonly call: CallView; readonly refusal?: Reason | null };

export type EditedMessage = { readonly data_context?: DataContext | null; readonly extra_user_messages?: readonly (string)[]; readonly payloads: readonly (TextPayload | FileReferencePayload | ImagePayload | WorkflowPayload | ToolResultPayload)[]; readonly client_metadata?: ClientMetadata | null; readonly mode?: string | null; readonly branch?: string | null };

export type Elevation = { readonly by: string; readonly at: string; readonly runtime: string; readonly calls_left?: number | null; readonly turn?: string | null; readonly until?: string | null; readonly deadline?: number | null };

export type ElevationBody = { readonly calls?: number | null; readonly turn?: boolean; readonly minutes?: number | null; readonly shown?: readonly (string)[] | null };

export type EnhancingSystemPrompt = { readonly type: "enhancing_system_prompt" };

export type ErrorEvent = { readonly context_id?: string | null; readonly version?: number | null; readonly code: Code; readonly error_message: string };

export type ErrorMessage = { readonly type: "error"; readonly reason: Reason; readonly recoverable?: boolean; readonly message_id: string; readonly timestamp: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly metadata?: Metadata };

export type ExecutingTool = { readonly type: "executing_tool"; readonly tool_name: string; readonly attempt?: number; readonly running: number; readonly done: number; readonly total: number };

export type ExportQuery = { readonly format?: "markdown" | "pilothouse"; readonly branch?: string | null; readonly include_system_prompt?: boolean };

export type Failed = { readonly type: "failed"; readonly error_message: Reason; readonly failed_at: string };

export type FileReference = { readonly type: "file_reference"; readonly path: string; readonly range?: LineRange | null; readonly content?: string | null; readonly resolved_at?: string | null; readonly error?: Reason | null; readonly message_id: string; readonly timestamp: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly metadata?: Metadata };

export type FileReferencePayload = { readonly type: "file_reference"; readonly path: string; readonly range?: LineRange | null; readonly display_text?: string | null };

export type FilesQuery = { readonly query?: string; readonly limit?: number };

export type FolderTrust = { readonly folder: string; readonly status: "changed" | "new" | "none" | "trusted"; readonly digest: string; readonly files?: { readonly [name: string]: string }; readonly programs?: { readonly [name: string]: string }; readonly trusted_at?: string | null };

export type FoundFile = { readonly path: string; readonly is_folder: boolean };

export type FoundFiles = { readonly items: readonly (FoundFile)[]; readonly is_cut: boolean };

export type GeneratingSummary = { readonly type: "generating_summary" };

export type Health = { readonly status: "failing" | "ok" | "stopping" | "warning"; readonly version: string; readonly user: string; readonly contexts_in_memory: number; readonly turns_open: number; readonly contexts_waiting: number; readonly sandbox: boolean; readonly promises: readonly (SandboxPromiseView)[]; readonly problems: readonly (HealthProblem)[]; readonly warnings: readonly (string)[] };

export type HealthProblem = { readonly code: Code; readonly severity: "error" | "warning"; readonly detail: string; readonly since?: string | null };

export type Idle = { readonly type: "idle" };

export type IdsQuery = { readonly before?: number | null; readonly limit?: number };

export type Image = { readonly type: "image"; readonly path?: string | null; readonly url?: string | null; readonly data?: string | null; readonly media_type?: "image/gif" | "image/jpeg" | "image/png" | "image/webp" | null; readonly recognition?: "auto" | "ocr" | "vision"; readonly recognised_text?: string | null; readonly resolved_at?: string | null; readonly error?: Reason | null; readonly message_id: string; readonly timestamp: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly metadata?: Metadata };

export type ImagePayload = { readonly type: "image"; readonly url?: string | null; readonly base64?: string | null; readonly path?: string | null; readonly recognition?: "auto" | "ocr" | "vision" };

export type ImportQuery = { readonly context_id?: string | null; readonly workspace?: string | null; readonly grants?: boolean };

export type Imported = { readonly context_id: string; readonly left_out?: readonly (Reason)[] };

export type Initializing = { readonly type: "initializing" };

export type Lifetime = { readonly context?: string | null; readonly until?: string | null };

export type LineRange = { readonly start_line?: number | null; readonly end_line?: number | null };

export type ListQuery = { readonly limit?: number; readonly cursor?: string | null; readonly archived?: boolean; readonly parent?: string | null };

export type LoadingMessages = { readonly type: "loading_messages"; readonly loaded: number; readonly total: number };

export type MCPResource = { readonly type: "mcp_resource"; readonly message_id: string; readonly timestamp: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly metadata?: Metadata; readonly server: string; readonly uri: string; readonly content: string; readonly mime_type?: string | null; readonly retrieved_at: string };

export type Merge = { readonly target?: string | null; readonly strategy?: "append" | "cherry_pick" | "rebase"; readonly message_ids?: readonly (string)[]; readonly preview?: boolean };

export type MergeConflict = { readonly kind: "already_there" | "call_left_behind" | "not_mergeable" | "result_left_behind"; readonly message_id: string };

export type MergePlan = { readonly source: string; readonly target: string; readonly strategy: "append" | "cherry_pick" | "rebase"; readonly message_ids: readonly (string)[]; readonly positions: readonly (number)[]; readonly conflicts?: readonly (MergeConflict)[] };

export type MergedBlock = { readonly start: number; readonly count: number; readonly source: string; readonly ranges: readonly (readonly [number, number])[]; readonly strategy: string; readonly at: string; readonly by: string };

export type MergingBranches = { readonly type: "merging_branches"; readonly source: string; readonly target: string; readonly strategy: string };

export type MessageChanged = { readonly event: "MessageChanged"; readonly context_id: string; readonly version: number; readonly message_id: string };

export type MessageCompleted = { readonly event: "MessageCompleted"; readonly context_id: string; readonly version: number; readonly message_id: string; readonly final_sequence: number };

export type MessageCreated = { readonly event: "MessageCreated"; readonly context_id: string; readonly version: number; readonly message_id: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly type: string };

export type MessagePage = { readonly items: readonly (Text | Image | FileReference | ProjectStructure | ToolRequestView | ToolResult | MCPResource | WorkflowExecution | SystemControl | Processing | ErrorMessage)[]; readonly next?: string | null; readonly key?: string };

export type MessagesQuery = { readonly ids?: string | null; readonly branch?: string | null; readonly before?: number | null; readonly limit?: number };

export type Metadata = { readonly turn?: string | null; readonly round?: number | null; readonly mode?: string | null; readonly persona?: string | null; readonly model?: string | null; readonly tokens?: number | null; readonly counter?: string | null; readonly display_text?: string | null; readonly trace_id?: string | null; readonly extra?: { readonly [name: string]: unknown }; readonly data_context?: DataContext | null; readonly extra_user_messages?: readonly (string)[]; readonly origin?: string | null; readonly held?: "processing" | "refused" | null };

export type Meter = { readonly tokens: number; readonly budget: number; readonly trigger: number; readonly target: number; readonly counter: string; readonly is_estimate: boolean; readonly auto_compress: boolean };

export type ModeBody = { readonly mode: string };

export type ModeSwitch = { readonly mode: string; readonly started?: readonly (string)[]; readonly rejected?: readonly (string)[]; readonly waiting?: readonly (string)[] };

export type ModeView = { readonly name: string; readonly title: string; readonly icon: string; readonly meaning: string; readonly aliases: readonly (string)[]; readonly elevates: boolean; readonly is_default: boolean };

export type ModelView = { readonly name: string; readonly is_default: boolean; readonly is_demo: boolean; readonly window: number | null; readonly vision: boolean; readonly tokenizer: string | null; readonly input_price: number | null; readonly output_price: number | null };

export type NewBranch = { readonly name: string; readonly source?: string | null; readonly at?: string | null; readonly prompt_addition?: string | null };

export type NewContext = { readonly title?: string | null; readonly mode?: string | null; readonly workspace?: string | null; readonly persona?: string | null; readonly model?: string | null };

export type NewMessage = { readonly data_context?: DataContext | null; readonly extra_user_messages?: readonly (string)[]; readonly payload?: TextPayload | FileReferencePayload | ImagePayload | WorkflowPayload | ToolResultPayload | null; readonly payloads?: readonly (TextPayload | FileReferencePayload | ImagePayload | WorkflowPayload | ToolResultPayload)[]; readonly files?: readonly (string)[]; readonly client_metadata?: ClientMetadata | null; readonly mode?: string | null; readonly queue?: boolean };

export type NewResource = { readonly server: string; readonly uri: string };

export type NewRule = { readonly effect: "allow" | "ask" | "deny"; readonly scope: Scope; readonly context_id?: string | null; readonly minutes?: number | null };

export type NewSetup = { readonly provider?: string | null; readonly base_url?: string | null; readonly key?: string | null; readonly model: string };

export type OpaquePart = { readonly format: string; readonly data: string; readonly after_reasoning?: number; readonly after_text?: number; readonly after_calls?: number };

export type OptimizingContext = { readonly type: "optimizing_context" };

export type Origin = { readonly by: string; readonly at?: string; readonly call?: string | null; readonly context?: string | null; readonly file?: string | null };

export type PageQuery = { readonly limit?: number; readonly cursor?: string | null };

export type PageBranchView = { readonly items: readonly (BranchView)[]; readonly next?: string | null };

export type PageCallView = { readonly items: readonly (CallView)[]; readonly next?: string | null };

export type PageContextSummary = { readonly items: readonly (ContextSummary)[]; readonly next?: string | null };

export type PageModeView = { readonly items: readonly (ModeView)[]; readonly next?: string | null };

export type PageModelView = { readonly items: readonly (ModelView)[]; readonly next?: string | null };

export type PagePersonaView = { readonly items: readonly (PersonaView)[]; readonly next?: string | null };

export type PageQueuedMessage = { readonly items: readonly (QueuedMessage)[]; readonly next?: string | null };

export type PageResourceView = { readonly items: readonly (ResourceView)[]; readonly next?: string | null };

export type PageRule = { readonly items: readonly (Rule)[]; readonly next?: string | null };

export type PageServerView = { readonly items: readonly (ServerView)[]; readonly next?: string | null };

export type PageToolView = { readonly items: readonly (ToolView)[]; readonly next?: string | null };

export type ParsingToolCalls = { readonly type: "parsing_tool_calls" };

export type Paused = { readonly type: "paused"; readonly resume_to: string };

export type PersonaQuery = { readonly context_id?: string | null };

export type PersonaView = { readonly id: string; readonly name: string; readonly role: string; readonly identity: string; readonly communication_style: string; readonly principles: readonly (string)[]; readonly prompt: string; readonly model: string | null; readonly temperature: number | null; readonly max_output_tokens: number | null; readonly default_mode: string | null; readonly tools: ToolPolicyView; readonly origin: "project" | "user"; readonly hidden: boolean };

export type Policy = { readonly kind?: "auto_approve" | "limited_auto" | "manual" | "white_list"; readonly tools?: readonly (string)[]; readonly depth?: number; readonly always_ask?: readonly ("delete" | "network" | "overwrite" | "privilege")[] };

export type Preferences = { readonly theme?: "dark" | "light" | "system"; readonly language?: "en" | "zh" | null; readonly font_size?: number; readonly auto_save?: boolean; readonly default_model?: string | null; readonly default_mode?: string | null; readonly tool_approval_policy?: Policy | null };

export type PreferencesChange = { readonly theme?: "dark" | "light" | "system"; readonly language?: "en" | "zh" | null; readonly font_size?: number; readonly auto_save?: boolean; readonly default_model?: string | null; readonly default_mode?: string | null; readonly tool_approval_policy?: Policy | null; readonly version?: number | null };

export type PreparingLLMRequest = { readonly type: "preparing_llm_request" };

export type Problem = { readonly type?: string; readonly title: string; readonly status: number; readonly code: string; readonly detail: string; readonly params?: { readonly [name: string]: unknown } };

export type Processing = { readonly type: "processing"; readonly stage: string; readonly started_at: string; readonly detail?: { readonly [name: string]: unknown }; readonly message_id: string; readonly timestamp: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly metadata?: Metadata };

export type ProcessingLLMResponse = { readonly type: "processing_llm_response" };

export type ProcessingToolResults = { readonly type: "processing_tool_results" };

export type ProcessingUserMessage = { readonly type: "processing_user_message" };

export type ProjectStructure = { readonly type: "project_structure"; readonly root: string; readonly kind: "dependencies" | "file_list" | "tree"; readonly content: string; readonly excluded?: readonly (string)[]; readonly message_id: string; readonly timestamp: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly metadata?: Metadata };

export type PromptArguments = { readonly arguments?: { readonly [name: string]: string } };

export type PromptMessage = { readonly role: "assistant" | "developer" | "system" | "tool" | "user"; readonly content?: string | readonly (ContentPart)[] | null };

export type PromptText = { readonly text: string };

export type PromptView = { readonly name: string; readonly description: string; readonly arguments?: readonly (string)[]; readonly required?: readonly (string)[] };

export type Provenance = { readonly branch: string; readonly position: number; readonly at: string; readonly by: string };

export type Queued = { readonly id: string; readonly message_ids: readonly (string)[]; readonly mode?: string | null; readonly by: string; readonly at: string };

export type QueuedMessage = { readonly item: Queued; readonly messages: readonly (Text | Image | FileReference | ProjectStructure | ToolRequest | ToolResult | MCPResource | WorkflowExecution | SystemControl | Processing | ErrorMessage)[] };

export type Reason = { readonly code: Code; readonly params?: { readonly [name: string]: unknown } };

export type Reasoning = { readonly format: string; readonly text: string; readonly chunks?: readonly (number)[] };

export type ReasoningDelta = { readonly event: "ReasoningDelta"; readonly context_id: string; readonly version: number; readonly message_id: string; readonly sequence: number };

export type Reject = { readonly reason?: string | null };

export type RejectAll = { readonly ids?: readonly (string)[] | null; readonly reason?: string | null };

export type ResolvingFileReferences = { readonly type: "resolving_file_references" };

export type ResourceView = { readonly uri: string; readonly name: string; readonly description: string; readonly mime_type?: string | null; readonly size?: number | null };

export type ResumeBody = { readonly decisions?: readonly (ResumeDecision)[] | null; readonly answers?: readonly (string)[] | null; readonly context_id?: string | null };

export type ResumeDecision = { readonly type: "approve" | "edit" | "reject"; readonly id?: string | null; readonly digest?: string | null; readonly args?: { readonly [name: string]: unknown } | null; readonly reason?: string | null };

export type Rule = { readonly id: string; readonly effect: "allow" | "ask" | "deny"; readonly scope: Scope; readonly lifetime?: Lifetime; readonly origin: Origin };

export type RuleOptionOffer = { readonly scope: "exact" | "exact_for_good" | "folder" | "folder_for_good" | "tool" | "tool_for_good" | "words" | "words_for_good"; readonly rule: Rule };

export type RulesQuery = { readonly context_id?: string | null };

export type SandboxPromise = "devices" | "ipc" | "memory" | "network" | "signals" | "truncation" | "writes";

export type SandboxPromiseView = { readonly name: SandboxPromise; readonly kept: boolean; readonly detail: string; readonly means: string };

export type SavingContext = { readonly type: "saving_context" };

export type SavingMessage = { readonly type: "saving_message"; readonly message_id?: string | null };

export type Scope = { readonly tool?: string; readonly fingerprint?: string | null; readonly arguments?: string | null; readonly words?: readonly (string)[]; readonly folder?: string | null; readonly workspace?: string | null };

export type SentView = { readonly message_id: string; readonly turn_id?: string | null };

export type ServerView = { readonly name: string; readonly transport: string; readonly status: "failed" | "ready" | "starting" | "stopped" | "waiting"; readonly detail: string | null; readonly folder: string | null; readonly trusted: boolean; readonly protocol: string | null; readonly restarts: number; readonly tools: readonly (string)[]; readonly changed: readonly (string)[]; readonly withheld: number; readonly prompts: readonly (PromptView)[]; readonly has_resources: boolean };

export type Session = { readonly user_id: string; readonly active_context_id?: string | null; readonly open_contexts?: readonly (Tab)[]; readonly ui_state?: UIState; readonly preferences?: Preferences; readonly last_updated?: string; readonly version?: number; readonly warning?: Reason | null };

export type SessionChanged = { readonly event: "SessionChanged"; readonly user_id: string; readonly version: number };

export type Setup = { readonly provider: string; readonly model: string; readonly is_demo: boolean; readonly base_url?: string | null; readonly key_hint?: string | null; readonly key_from?: "environment" | "stored" | null; readonly can_change?: boolean; readonly reason?: Reason | null };

export type SetupRequest = { readonly provider?: string | null; readonly base_url?: string | null; readonly key?: string | null; readonly model?: string | null };

export type SetupTrial = { readonly ok: boolean; readonly models?: readonly (string)[]; readonly reason?: Reason | null };

export type StateChanged = { readonly event: "StateChanged"; readonly context_id: string; readonly version: number; readonly state: Idle | AwaitingToolApproval | AwaitingUserAnswer | Paused | WaitingForRecovery | Failed | Initializing | ProcessingUserMessage | ResolvingFileReferences | EnhancingSystemPrompt | OptimizingContext | PreparingLLMRequest | ConnectingToLLM | AwaitingLLMFirstChunk | StreamingLLMResponse | ProcessingLLMResponse | TransientError | ParsingToolCalls | ExecutingTool | CollectingToolResults | ProcessingToolResults | ToolAutoLoop | SwitchingBranch | MergingBranches | SavingContext | SavingMessage | LoadingMessages | CompressingMessages | GeneratingSummary | Cancelling };

export type StreamQuery = { readonly contexts?: string };

export type StreamingLLMResponse = { readonly type: "streaming_llm_response"; readonly chunks_received: number; readonly chars_accumulated: number };

export type StreamingView = { readonly message_id: string; readonly sequence: number; readonly reasoning_sequence?: number };

export type SwitchBody = { readonly mode: string; readonly shown?: readonly (string)[] | null };

export type SwitchingBranch = { readonly type: "switching_branch"; readonly from: string; readonly to: string };

export type SystemControl = { readonly type: "system_control"; readonly kind: "branch_merge" | "injection" | "mode_switch" | "prompt_change" | "summary"; readonly content?: string; readonly detail?: { readonly [name: string]: unknown }; readonly message_id: string; readonly timestamp: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly metadata?: Metadata };

export type Tab = { readonly context_id: string; readonly title?: string | null; readonly last_access_time?: string; readonly order?: number };

export type TabInput = { readonly context_id: string; readonly order?: number; readonly title?: string | null; readonly last_access_time?: string };

export type Text = { readonly type: "text"; readonly content: string; readonly chunks?: readonly (number)[]; readonly finish_reason?: string | null; readonly usage?: Usage | null; readonly ended?: "cancelled" | "complete" | "cut" | "interrupted"; readonly reasoning?: Reasoning | null; readonly opaque?: readonly (OpaquePart)[]; readonly message_id: string; readonly timestamp: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly metadata?: Metadata };

export type TextPayload = { readonly type: "text"; readonly content: string; readonly display?: string | null };

export type ToolAutoLoop = { readonly type: "tool_auto_loop"; readonly depth: number; readonly tools_executed: number };

export type ToolCall = { readonly id: string; readonly provider_id: string; readonly tool: string; readonly arguments: string };

export type ToolPolicyView = { readonly allowed: readonly (string)[]; readonly denied: readonly (string)[]; readonly allowed_categories: readonly (string)[]; readonly denied_categories: readonly (string)[] };

export type ToolRequest = { readonly type: "tool_request"; readonly message_id: string; readonly timestamp: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly metadata?: Metadata; readonly content?: string; readonly calls: readonly (ToolCall)[]; readonly chunks?: readonly (number)[]; readonly finish_reason?: string | null; readonly usage?: Usage | null; readonly reasoning?: Reasoning | null; readonly opaque?: readonly (OpaquePart)[] };

export type ToolRequestView = { readonly type: "tool_request"; readonly message_id: string; readonly timestamp: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly metadata?: Metadata; readonly content?: string; readonly calls: readonly (CallView)[]; readonly chunks?: readonly (number)[]; readonly finish_reason?: string | null; readonly usage?: Usage | null; readonly reasoning?: Reasoning | null };

export type ToolResult = { readonly type: "tool_result"; readonly call_id: string; readonly tool: string; readonly content: string; readonly status: "cancelled" | "denied" | "executed" | "failed" | "interrupted" | "rejected"; readonly duration_ms?: number | null; readonly error?: Reason | null; readonly server?: string | null; readonly exit_status?: number | null; readonly message_id: string; readonly timestamp: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly metadata?: Metadata };

export type ToolResultPayload = { readonly type: "tool_result"; readonly tool_name: string; readonly result: unknown; readonly display_text?: string | null };

export type ToolSwitch = { readonly enabled: boolean };

export type ToolView = { readonly name: string; readonly display_name: string; readonly description: string; readonly category: string; readonly effect: "delegating" | "mutating" | "question" | "read_only" | "unknown"; readonly enabled: boolean; readonly parameters: { readonly [name: string]: unknown } };

export type TransientError = { readonly type: "transient_error"; readonly error_type: Reason; readonly retry_count: number; readonly max_retries: number; readonly retry_at: string; readonly resume_to: string; readonly wait_seconds?: number };

export type TrustBody = { readonly digest: string };

export type TurnView = { readonly id: string; readonly branch: string; readonly started_at: string; readonly round: number };

export type UIState = { readonly sidebar_collapsed?: boolean; readonly sidebar_width?: number; readonly context_expanded?: { readonly [name: string]: boolean }; readonly active_panel?: string | null };

export type UIStateChange = { readonly sidebar_collapsed?: boolean; readonly sidebar_width?: number; readonly context_expanded?: { readonly [name: string]: boolean }; readonly active_panel?: string | null; readonly version?: number | null };

export type UndoCompressionBody = { readonly branch?: string | null };

export type Undone = { readonly branch: string; readonly messages: number };

export type UndoneView = { readonly paths: readonly (string)[]; readonly left?: string | null };

export type Upload = { readonly path: string; readonly size: number };

export type UploadCopy = { readonly path: string };

export type UploadQuery = { readonly name: string };

export type Usage = { readonly input_tokens?: number; readonly output_tokens?: number; readonly cost?: number | null };

export type UsageView = { readonly own: Usage; readonly total: Usage; readonly window: Meter };

export type WaitingForRecovery = { readonly type: "waiting_for_recovery"; readonly reason: Reason };

export type WholeSession = { readonly version: number; readonly active_context_id?: string | null; readonly open_contexts?: readonly (TabInput)[]; readonly ui_state?: UIState; readonly preferences?: Preferences; readonly user_id?: string | null; readonly last_updated?: string; readonly warning?: Reason | null };

export type WhyStep = { readonly at: string; readonly by: string; readonly what: string; readonly why?: string | null };

export type Window = { readonly model: string; readonly branch: string; readonly meter: Meter; readonly parts: readonly (WindowPart)[]; readonly compresses: boolean; readonly results_cut: number; readonly messages_shortened: number; readonly messages_left_out: number; readonly tokens_cut: number; readonly request: unknown };

export type WindowPart = { readonly name: string; readonly tokens: number; readonly text?: string | null };

export type WorkflowExecution = { readonly type: "workflow_execution"; readonly workflow: string; readonly execution_id: string; readonly status: "cancelled" | "completed" | "failed" | "paused" | "pending" | "running"; readonly step?: string | null; readonly steps_done?: number; readonly steps_total?: number; readonly started_at?: string | null; readonly finished_at?: string | null; readonly result?: string | null; readonly error?: Reason | null; readonly message_id: string; readonly timestamp: string; readonly role: "assistant" | "system" | "tool" | "user"; readonly metadata?: Metadata };

export type WorkflowPayload = { readonly type: "workflow"; readonly workflow: string; readonly parameters?: { readonly [name: string]: unknown }; readonly display_text?: string | null };

export type PilothouseServerMcpServersAdded = { readonly message_id: string };

export type PilothouseServerWindowAdded = { readonly message_id: string };

export interface Routes {
  "GET /api/contexts/{context_id}/stream": { path: { readonly context_id: string }; query: Record<string, never>; answer: string; };
  "GET /api/stream": { path: Record<string, never>; query: { readonly contexts?: string }; answer: string; };
  "GET /api/contexts/{context_id}": { path: { readonly context_id: string }; query: Record<string, never>; answer: ContextView; };
  "PATCH /api/contexts/{context_id}": { path: { readonly context_id: string }; query: Record<string, never>; body: ContextChange; answer: ContextView; };
  "DELETE /api/contexts/{context_id}": { path: { readonly context_id: string }; query: Record<string, never>; answer: null; };
  "GET /api/contexts/{context_id}/messages": { path: { readonly context_id: string }; query: { readonly ids?: string; readonly branch?: string; readonly before?: number; readonly limit?: number }; answer: readonly (Text | Image | FileReference | ProjectStructure | ToolRequestView | ToolResult | MCPResource | WorkflowExecution | SystemControl | Processing | ErrorMessage)[] | MessagePage; };
  "POST /api/contexts/{context_id}/messages": { path: { readonly context_id: string }; query: Record<string, never>; body: NewMessage; answer: SentView; };
  "GET /api/contexts/{context_id}/messages/{message_id}/content": { path: { readonly context_id: string; readonly message_id: string }; query: { readonly from_sequence?: number }; answer: readonly (Delta)[]; };
  "GET /api/contexts/{context_id}/messages/{message_id}/reasoning": { path: { readonly context_id: string; readonly message_id: string }; query: { readonly from_sequence?: number }; answer: readonly (Delta)[]; };
  "GET /api/contexts/{context_id}/messages/{message_id}/provenance": { path: { readonly context_id: string; readonly message_id: string }; query: { readonly branch?: string }; answer: Provenance | null; };
  "POST /api/contexts": { path: Record<string, never>; query: Record<string, never>; body: NewContext; answer: ContextView; };
  "GET /api/contexts": { path: Record<string, never>; query: { readonly limit?: number; readonly cursor?: string; readonly archived?: boolean; readonly parent?: string }; answer: PageContextSummary; };
  "GET /api/contexts/{context_id}/audit": { path: { readonly context_id: string }; query: { readonly limit?: number; readonly cursor?: string }; answer: AuditedPageAuditEntry; };
  "GET /api/contexts/{context_id}/export": { path: { readonly context_id: string }; query: { readonly format?: "markdown" | "pilothouse"; readonly branch?: string; readonly include_system_prompt?: boolean }; answer: string; };
  "POST /api/contexts/import": { path: Record<string, never>; query: { readonly context_id?: string; readonly workspace?: string; readonly grants?: boolean }; body: string; answer: Imported; };
  "POST /api/contexts/{context_id}/files": { path: { readonly context_id: string }; query: { readonly name: string }; body: string; answer: Upload; };
  "GET /api/contexts/{context_id}/files": { path: { readonly context_id: string }; query: { readonly query?: string; readonly limit?: number }; answer: FoundFiles; };
  "POST /api/contexts/{context_id}/files/{name}/copy": { path: { readonly context_id: string; readonly name: string }; query: Record<string, never>; body: CopyBody; answer: UploadCopy; };
  "DELETE /api/contexts/{context_id}/files/{name}": { path: { readonly context_id: string; readonly name: string }; query: Record<string, never>; answer: null; };
  "GET /api/contexts/{context_id}/trust": { path: { readonly context_id: string }; query: Record<string, never>; answer: FolderTrust; };
  "PUT /api/contexts/{context_id}/trust": { path: { readonly context_id: string }; query: Record<string, never>; body: TrustBody; answer: FolderTrust; };
  "DELETE /api/contexts/{context_id}/trust": { path: { readonly context_id: string }; query: Record<string, never>; answer: FolderTrust; };
  "POST /api/contexts/{context_id}/undo": { path: { readonly context_id: string }; query: Record<string, never>; answer: UndoneView; };
  "POST /api/contexts/{context_id}/messages/{message_id}/edit": { path: { readonly context_id: string; readonly message_id: string }; query: Record<string, never>; body: EditedMessage; answer: SentView; };
  "GET /api/contexts/{context_id}/queue": { path: { readonly context_id: string }; query: Record<string, never>; answer: PageQueuedMessage; };
  "PATCH /api/contexts/{context_id}/queue/{message_id}": { path: { readonly context_id: string; readonly message_id: string }; query: Record<string, never>; body: NewMessage; answer: PageQueuedMessage; };
  "DELETE /api/contexts/{context_id}/queue/{message_id}": { path: { readonly context_id: string; readonly message_id: string }; query: Record<string, never>; answer: null; };
  "POST /api/contexts/{context_id}/cancel": { path: { readonly context_id: string }; query: Record<string, never>; answer: ContextView; };
  "POST /api/contexts/{context_id}/pause": { path: { readonly context_id: string }; query: Record<string, never>; answer: ContextView; };
  "POST /api/contexts/{context_id}/resume": { path: { readonly context_id: string }; query: Record<string, never>; answer: ContextView; };
  "POST /api/contexts/{context_id}/continue": { path: { readonly context_id: string }; query: Record<string, never>; answer: ContextView; };
  "POST /api/contexts/{context_id}/retry": { path: { readonly context_id: string }; query: Record<string, never>; answer: ContextView; };
  "PUT /api/contexts/{context_id}/mode": { path: { readonly context_id: string }; query: Record<string, never>; body: SwitchBody; answer: ModeSwitch; };
  "GET /api/contexts/{context_id}/mode/preview": { path: { readonly context_id: string }; query: { readonly mode: string }; answer: PageCallView; };
  "POST /api/contexts/{context_id}/elevation": { path: { readonly context_id: string }; query: Record<string, never>; body: ElevationBody; answer: ModeSwitch; };
  "DELETE /api/contexts/{context_id}/elevation": { path: { readonly context_id: string }; query: Record<string, never>; answer: ModeSwitch; };
  "POST /api/contexts/{context_id}/answers": { path: { readonly context_id: string }; query: Record<string, never>; body: AnswersBody; answer: ContextView; };
  "GET /api/contexts/{context_id}/tool-calls": { path: { readonly context_id: string }; query: { readonly status?: "approved" | "cancelled" | "denied" | "executed" | "executing" | "failed" | "interrupted" | "pending" | "rejected"; readonly limit?: number; readonly cursor?: string }; answer: PageCallView; };
  "GET /api/contexts/{context_id}/tool-calls/{call_id}": { path: { readonly context_id: string; readonly call_id: string }; query: Record<string, never>; answer: CallView; };
  "POST /api/contexts/{context_id}/tool-calls/{call_id}/preview": { path: { readonly context_id: string; readonly call_id: string }; query: Record<string, never>; body: Edit; answer: EditPreview; };
  "POST /api/contexts/{context_id}/tool-calls/{call_id}/approve": { path: { readonly context_id: string; readonly call_id: string }; query: Record<string, never>; body: Approve; answer: CallView; };
  "POST /api/contexts/{context_id}/tool-calls/{call_id}/reject": { path: { readonly context_id: string; readonly call_id: string }; query: Record<string, never>; body: Reject; answer: CallView; };
  "GET /api/contexts/{context_id}/tool-calls/{call_id}/explain": { path: { readonly context_id: string; readonly call_id: string }; query: Record<string, never>; answer: AuditedPageWhyStep; };
  "GET /api/contexts/{context_id}/tool-calls/{call_id}/output": { path: { readonly context_id: string; readonly call_id: string }; query: Record<string, never>; answer: string; };
  "POST /api/contexts/{context_id}/tool-calls/approve-all": { path: { readonly context_id: string }; query: Record<string, never>; body: ApproveAll; answer: PageCallView; };
  "POST /api/contexts/{context_id}/tool-calls/reject-all": { path: { readonly context_id: string }; query: Record<string, never>; body: RejectAll; answer: PageCallView; };
  "POST /api/contexts/{context_id}/tool-calls/decide": { path: { readonly context_id: string }; query: Record<string, never>; body: Decide; answer: PageCallView; };
  "GET /api/rules": { path: Record<string, never>; query: { readonly context_id?: string }; answer: PageRule; };
  "POST /api/rules": { path: Record<string, never>; query: Record<string, never>; body: NewRule; answer: Rule; };
  "DELETE /api/rules/{rule_id}": { path: { readonly rule_id: string }; query: { readonly context_id?: string }; answer: null; };
  "GET /api/contexts/{context_id}/branches": { path: { readonly context_id: string }; query: Record<string, never>; answer: PageBranchView; };
  "POST /api/contexts/{context_id}/branches": { path: { readonly context_id: string }; query: Record<string, never>; body: NewBranch; answer: BranchView; };
  "GET /api/contexts/{context_id}/branches/{branch}": { path: { readonly context_id: string; readonly branch: string }; query: { readonly before?: number; readonly limit?: number }; answer: BranchView; };
  "PATCH /api/contexts/{context_id}/branches/{branch}": { path: { readonly context_id: string; readonly branch: string }; query: Record<string, never>; body: BranchChange; answer: BranchView; };
  "DELETE /api/contexts/{context_id}/branches/{branch}": { path: { readonly context_id: string; readonly branch: string }; query: Record<string, never>; answer: null; };
  "PUT /api/contexts/{context_id}/active-branch": { path: { readonly context_id: string }; query: Record<string, never>; body: ActiveBranch; answer: ContextView; };
  "POST /api/contexts/{context_id}/branches/{source}/merge": { path: { readonly context_id: string; readonly source: string }; query: Record<string, never>; body: Merge; answer: MergePlan; };
  "GET /api/contexts/{context_id}/window": { path: { readonly context_id: string }; query: Record<string, never>; answer: Window; };
  "GET /api/contexts/{context_id}/usage": { path: { readonly context_id: string }; query: Record<string, never>; answer: UsageView; };
  "POST /api/contexts/{context_id}/compress": { path: { readonly context_id: string }; query: Record<string, never>; body: CompressBody; answer: Compression; };
  "POST /api/contexts/{context_id}/compress/undo": { path: { readonly context_id: string }; query: Record<string, never>; body: UndoCompressionBody; answer: Undone; };
  "PUT /api/contexts/{context_id}/messages/{message_id}/pin": { path: { readonly context_id: string; readonly message_id: string }; query: Record<string, never>; answer: ContextView; };
  "DELETE /api/contexts/{context_id}/messages/{message_id}/pin": { path: { readonly context_id: string; readonly message_id: string }; query: Record<string, never>; answer: ContextView; };
  "POST /api/contexts/{context_id}/workspace-overview": { path: { readonly context_id: string }; query: Record<string, never>; answer: PilothouseServerWindowAdded; };
  "GET /api/session": { path: Record<string, never>; query: Record<string, never>; answer: Session; };
  "PUT /api/session": { path: Record<string, never>; query: Record<string, never>; body: WholeSession; answer: Session; };
  "PUT /api/session/active-context": { path: Record<string, never>; query: Record<string, never>; body: ActiveContext; answer: Session; };
  "POST /api/session/open-contexts": { path: Record<string, never>; query: Record<string, never>; body: ContextChoice; answer: Session; };
  "DELETE /api/session/open-contexts/{tab_id}": { path: { readonly tab_id: string }; query: Record<string, never>; answer: Session; };
  "PUT /api/session/ui-state": { path: Record<string, never>; query: Record<string, never>; body: UIStateChange; answer: Session; };
  "PUT /api/session/preferences": { path: Record<string, never>; query: Record<string, never>; body: PreferencesChange; answer: Session; };
  "GET /api/modes": { path: Record<string, never>; query: Record<string, never>; answer: PageModeView; };
  "GET /api/personas": { path: Record<string, never>; query: { readonly context_id?: string }; answer: PagePersonaView; };
  "GET /api/models": { path: Record<string, never>; query: Record<string, never>; answer: PageModelView; };
  "GET /api/tools": { path: Record<string, never>; query: Record<string, never>; answer: PageToolView; };
  "PATCH /api/tools/{name}": { path: { readonly name: string }; query: Record<string, never>; body: ToolSwitch; answer: ToolView; };
  "GET /api/setup": { path: Record<string, never>; query: Record<string, never>; answer: Setup; };
  "PUT /api/setup": { path: Record<string, never>; query: Record<string, never>; body: NewSetup; answer: Setup; };
  "DELETE /api/setup": { path: Record<string, never>; query: Record<string, never>; answer: Setup; };
  "POST /api/setup/test": { path: Record<string, never>; query: Record<string, never>; body: SetupRequest; answer: SetupTrial; };
  "GET /api/mcp/servers": { path: Record<string, never>; query: Record<string, never>; answer: PageServerView; };
  "POST /api/mcp/servers/{name}/reconnect": { path: { readonly name: string }; query: Record<string, never>; answer: PageServerView; };
  "GET /api/mcp/servers/{name}/resources": { path: { readonly name: string }; query: Record<string, never>; answer: PageResourceView; };
  "POST /api/mcp/servers/{name}/prompts/{prompt_name}": { path: { readonly name: string; readonly prompt_name: string }; query: Record<string, never>; body: PromptArguments; answer: PromptText; };
  "POST /api/contexts/{context_id}/mcp-resources": { path: { readonly context_id: string }; query: Record<string, never>; body: NewResource; answer: PilothouseServerMcpServersAdded; };
  "GET /api/health": { path: Record<string, never>; query: Record<string, never>; answer: Health; };
  "GET /healthz": { path: Record<string, never>; query: Record<string, never>; answer: null; };
  "GET /readyz": { path: Record<string, never>; query: Record<string, never>; answer: null; };
  "GET /metrics": { path: Record<string, never>; query: Record<string, never>; answer: string; };
  "POST /api/chat/{thread_id}": { path: { readonly thread_id: string }; query: Record<string, never>; body: ChatBody; answer: string; };
  "POST /api/chat/{thread_id}/resume": { path: { readonly thread_id: string }; query: Record<string, never>; body: ResumeBody; answer: string; };
  "POST /v1/chat/completions": { path: Record<string, never>; query: Record<string, never>; body: CompletionBody; answer: Completion; };
  "GET /api/openapi.json": { path: Record<string, never>; query: Record<string, never>; answer: { readonly [name: string]: unknown }; };
}
