"""The tests of each case in tests/data/security_cases.jsonl that is not about the classifier of shell commands.

A case may have several tests, each for a part of it. Cases about missing features (a tool that fetches
addresses, a sign-up, an archive) are bound to tests that show the absence of the feature, and to tests of the closest
one.
"""

from collections.abc import Mapping

_ACCESS = "tests/server/test_access.py::"
_SIGN_IN = "tests/server/test_sign_in.py::"
_ALONE = "tests/security/test_sandbox_alone.py::"
_APPROVALS = "tests/security/test_approvals.py::"
_ENDINGS = "tests/security/test_lingering_processes.py::"
_ESCALATION = "tests/security/test_self_escalation.py::"
_FOLDERS = "tests/security/test_hostile_folders.py::"
_HTTP = "tests/security/test_hostile_requests.py::"
_MCP = "tests/server/test_mcp.py::"
_PATHS = "tests/security/test_tool_paths.py::"
_SECRETS = "tests/security/test_secrets.py::"
_SWAPS = "tests/security/test_swap_races.py::"
_TRUST = "tests/stories/test_trust.py::"
_TURNS = "tests/stories/test_turns.py::"

_OUTSIDE = f"{_PATHS}test_no_tool_reaches_anything_outside"
_PROTECTED = f"{_PATHS}test_protected_files_are_not_written_at_any_depth_in_any_case"
_INSPECTION = f"{_FOLDERS}test_inspecting_a_hostile_folder_in_review_runs_and_changes_nothing"
_UNDO_DATA = f"{_FOLDERS}test_recording_undo_data_in_a_hostile_folder_runs_and_changes_nothing"
_OPENING = f"{_FOLDERS}test_a_folder_with_git_settings_of_its_own_is_opened_without_asking_git"
_UNATTENDED_START = f"{_FOLDERS}test_a_start_without_a_person_in_a_hostile_folder_trusts_nothing"
_BEFORE_TRUST = f"{_TRUST}test_a_projects_configuration_has_no_effect_before_trust"
_NEEDS_TOKEN = f"{_ACCESS}test_every_route_refuses_a_request_without_a_valid_token"
_HEADERS = f"{_ACCESS}test_every_answer_carries_the_headers_that_keep_a_browser_safe"
_FOREIGN = f"{_ACCESS}test_a_page_of_another_site_is_refused_on_every_route_and_method"
_FOREIGN_HOST = f"{_ACCESS}test_a_foreign_host_header_is_refused_on_every_route"
_OTHER_USER = f"{_ACCESS}test_another_users_context_is_404_on_every_route"
_NO_ROUTE = f"{_HTTP}test_no_route_runs_a_tool_or_takes_an_address_or_a_program"
_TEXT_ONLY = f"{_HTTP}test_the_web_client_inserts_text_only_and_contacts_no_other_host"
_NO_FETCHING = f"{_SECRETS}test_no_tool_of_ours_takes_an_address"
_VISIBLE = (
    "tests/domain/deception/test_hidden_characters.py::test_characters_that_hide_or_move_text_are_printed_as_codes"
)
_TERMINAL = "tests/cli/test_main.py::test_no_control_sequence_of_a_model_or_tool_reaches_the_terminal"
_SERVER_LIMITS = (
    "tests/tools/mcp/test_misbehavior.py::test_a_server_that_breaks_a_limit_stays_failed_until_a_person_reconnects_it"
)

_PATH_ESCAPES: Mapping[str, tuple[str, ...]] = {
    "PA-01": (_OUTSIDE, "tests/sandbox/test_workspace.py::test_no_path_reads_or_writes_outside_the_workspace"),
    "PA-02": (_OUTSIDE,),
    "PA-03": (f"{_PATHS}test_a_link_that_a_command_created_leads_no_tool_outside",),
    "PA-04": (_OUTSIDE, "tests/sandbox/test_workspace.py::test_no_path_reads_or_writes_outside_the_workspace"),
    "PA-05": (f"{_PATHS}test_a_rule_that_denies_a_folder_applies_through_a_link",),
    "PA-06": (f"{_PATHS}test_a_hard_link_is_read_but_its_other_name_is_never_written",),
    "PA-07": (_PROTECTED,),
    "PA-08": (_PROTECTED, f"{_PATHS}test_files_that_may_hold_keys_are_not_read"),
    "PA-09": (
        _PROTECTED,
        "tests/sandbox/test_workspace.py::test_protected_files_are_never_touched_even_before_they_exist",
    ),
    "PA-10": (
        f"{_PATHS}test_the_folder_of_one_command_does_not_carry_over_to_the_next",
        f"{_PATHS}test_a_command_does_not_begin_in_a_protected_folder",
        f"{_PATHS}test_a_line_that_plainly_writes_what_is_protected_is_refused_wherever_it_begins",
    ),
    "PA-11": (_OUTSIDE, "tests/tools/builtin/test_builtin_tools.py::test_a_command_runs_and_its_failure_is_reported"),
    "PA-12": (_OUTSIDE, f"{_PATHS}test_every_path_in_a_line_is_held_to_the_workspace"),
    "PA-13": (f"{_HTTP}test_no_path_leads_to_a_file",),
    "PA-14": (
        f"{_SWAPS}test_no_tool_leaves_the_workspace_during_a_swap_race",
        f"{_SWAPS}test_undo_never_leaves_the_workspace_during_a_swap_race",
        f"{_SWAPS}test_copying_an_upload_never_leaves_the_workspace_during_a_swap_race",
        "tests/sandbox/test_workspace.py::test_a_folder_swapped_for_a_link_in_a_race_never_lets_anything_out",
    ),
    "PA-15": (
        f"{_PATHS}test_a_temporary_file_is_never_written_through_a_planted_link",
        f"{_ALONE}test_a_workspace_command_has_a_temporary_folder_that_is_removed_with_it",
    ),
    "PA-16": (
        "tests/stories/test_contexts.py::test_ids_in_a_file_cannot_lead_out_of_its_folder",
        f"{_HTTP}test_compressed_request_bodies_are_refused_without_decompression",
        f"{_ACCESS}test_a_body_that_grows_too_large_is_refused",
    ),
    "PA-17": (
        f"{_HTTP}test_an_id_with_other_characters_is_refused",
        "tests/storage/test_contract.py::test_an_id_that_is_no_folders_name_is_refused",
    ),
    "PA-18": (
        f"{_TRUST}test_another_folder_that_links_to_a_trusted_one_is_not_trusted",
        f"{_TRUST}test_a_folder_behind_a_link_is_the_same_folder",
        _INSPECTION,
    ),
    "PA-19": (
        f"{_PATHS}test_pipes_sockets_and_devices_are_refused_without_hanging",
        f"{_PATHS}test_devices_and_processes_are_outside",
        f"{_PATHS}test_a_search_skips_files_that_are_not_regular",
    ),
    "PA-20": (
        f"{_PATHS}test_twenty_gigabytes_are_not_taken_into_memory",
        f"{_PATHS}test_a_file_that_grows_while_it_is_read_does_not_block_the_loop",
    ),
}

_SERVER: Mapping[str, tuple[str, ...]] = {
    "SV-01": (_NEEDS_TOKEN,),
    "SV-02": (_FOREIGN, f"{_ACCESS}test_form_content_types_are_refused_on_every_changing_route"),
    "SV-03": (_FOREIGN_HOST,),
    "SV-04": (_FOREIGN_HOST, _FOREIGN, f"{_HTTP}test_the_server_listens_on_loopback_by_default"),
    "SV-05": (_FOREIGN, f"{_ACCESS}test_a_cross_site_request_is_refused_on_every_route"),
    "SV-06": (_FOREIGN,),
    "SV-07": (_TEXT_ONLY, f"{_HTTP}test_signing_in_leads_to_the_web_client_and_nowhere_else"),
    "SV-08": (_TEXT_ONLY, _HEADERS),
    "SV-09": (f"{_ACCESS}test_no_line_of_the_log_contains_a_token",),
    "SV-10": (f"{_HTTP}test_a_cookie_of_a_revoked_token_is_refused",),
    "SV-11": (f"{_HTTP}test_signing_in_leads_to_the_web_client_and_nowhere_else",),
    "SV-12": (_OTHER_USER, "tests/server/test_signals.py::test_a_stream_of_a_foreign_or_unknown_context_is_404"),
    "SV-13": (f"{_ACCESS}test_another_users_context_is_404_in_every_body_and_query",),
    "SV-14": (f"{_HTTP}test_users_that_are_added_at_once_are_all_there",),
    "SV-15": (
        f"{_SIGN_IN}test_a_code_or_a_token_in_the_address_opens_no_other_route",
        f"{_SIGN_IN}test_the_cookie_is_no_token_and_is_kept_from_scripts_and_other_sites",
        _HEADERS,
    ),
    "SV-16": (_NEEDS_TOKEN,),
    "SV-17": (_NO_ROUTE, _NEEDS_TOKEN),
    "SV-18": (
        _NO_ROUTE,
        f"{_HTTP}test_a_request_that_adds_a_server_or_a_call_is_refused",
        "tests/server/test_chat.py::test_in_plan_a_change_is_one_error_with_the_hint_then_done",
    ),
    "SV-19": (_HEADERS, f"{_ACCESS}test_a_cross_site_request_is_refused_on_every_route"),
    "SV-20": (_HEADERS,),
    "SV-21": (f"{_ACCESS}test_no_changing_route_answers_get_or_head",),
    "SV-22": (
        f"{_HTTP}test_the_server_listens_on_loopback_by_default",
        "tests/cli/test_serve.py::test_the_server_listens_for_other_machines_only_with_a_configured_token",
    ),
}

_SELF_ESCALATION: Mapping[str, tuple[str, ...]] = {
    "CF-01": (f"{_ESCALATION}test_no_tool_writes_the_runtimes_configuration_even_with_approval",),
    "CF-02": (
        f"{_ESCALATION}test_an_mcp_server_that_the_agent_configured_needs_trust_before_it_starts",
        f"{_ESCALATION}test_no_tool_writes_the_runtimes_configuration_even_with_approval",
    ),
    "CF-03": (f"{_ESCALATION}test_no_tool_writes_the_runtimes_configuration_even_with_approval",),
    "CF-04": (
        f"{_ESCALATION}test_files_that_other_programs_run_need_approval_in_agent_mode_and_under_any_rule",
        f"{_ESCALATION}test_start_up_files_of_the_person_are_refused_in_every_mode",
        f"{_PATHS}test_code_files_in_an_additional_folder_need_approval_too",
    ),
    "CF-05": (
        f"{_ESCALATION}test_a_command_that_plainly_writes_such_a_file_is_refused_in_every_mode",
        f"{_ESCALATION}test_settings_written_by_a_script_have_no_effect_without_trust",
        f"{_ESCALATION}test_a_command_that_is_kept_to_its_workspace_does_not_write_what_is_protected_in_it",
    ),
    "CF-06": (
        f"{_ESCALATION}test_a_command_cannot_switch_its_own_mode_even_with_the_token",
        f"{_ESCALATION}test_no_command_is_given_the_token_or_a_key",
        f"{_ALONE}test_a_command_that_runs_without_approval_cannot_read_the_runtimes_data",
        f"{_ALONE}test_a_confined_command_connects_to_no_listener",
    ),
    "CF-07": (
        "tests/stories/test_subagents.py::test_a_sub_agent_is_bound_by_its_parents_present_mode",
        "tests/domain/test_decisions.py::test_a_sub_agent_is_never_freer_than_its_parent",
    ),
    "CF-08": (
        f"{_ESCALATION}test_no_tool_reaches_the_stored_mode",
        "tests/sandbox/test_workspace.py::test_the_runtimes_own_data_is_never_touched",
        "tests/stories/test_import.py::test_a_looser_mode_than_the_persons_own_is_not_taken_and_is_listed",
    ),
    "CF-09": (
        "tests/config/test_configuration.py::test_a_project_can_neither_loosen_the_settings_nor_act_for_the_person",
        _UNATTENDED_START,
    ),
    "CF-10": (f"{_ESCALATION}test_claims_of_the_model_about_its_mode_have_no_effect",),
}

_UNTRUSTED: Mapping[str, tuple[str, ...]] = {
    "RP-01": (_UNATTENDED_START, _OPENING, _BEFORE_TRUST),
    "RP-02": (_UNATTENDED_START,),
    "RP-03": (f"{_SECRETS}test_a_folder_does_not_say_where_keys_are_sent", _BEFORE_TRUST),
    "RP-04": (
        _UNATTENDED_START,
        "tests/config/test_configuration.py::test_a_project_can_neither_loosen_the_settings_nor_act_for_the_person",
    ),
    "RP-05": (_UNATTENDED_START, _INSPECTION, _UNDO_DATA),
    "RP-06": (_UNATTENDED_START, _OPENING),
    "RP-07": (
        _UNATTENDED_START,
        "tests/server/test_completions.py::test_calls_that_need_approval_are_denied_and_reported_in_the_completion",
    ),
    "RP-08": (_OPENING, _BEFORE_TRUST),
    "RP-09": (_OPENING, _INSPECTION, _UNDO_DATA),
    "RP-10": (_INSPECTION, _UNATTENDED_START),
    "AM-03": (_INSPECTION, f"{_FOLDERS}test_the_same_commands_in_a_plain_shell_run_programs_of_the_folder"),
    "AM-05": (f"{_FOLDERS}test_variables_that_make_programs_run_something_are_not_passed_on",),
}

_SERVERS_OF_TOOLS: Mapping[str, tuple[str, ...]] = {
    "MC-01": (
        f"{_TRUST}test_a_changed_file_needs_trust_again_and_the_trusted_version_holds",
        "tests/tools/mcp/test_definitions.py::test_the_digest_changes_with_all_but_the_origin_and_nothing_secret_is_shown",
    ),
    "MC-02": (
        f"{_MCP}test_a_projects_server_never_shadows_the_persons_own",
        "tests/server/test_tools.py::test_a_custom_tool_cannot_take_the_name_of_another",
    ),
    "MC-03": (f"{_MCP}test_two_tools_whose_names_become_one_are_withheld_both",),
    "MC-04": (
        f"{_MCP}test_a_changed_tool_waits_again_shows_the_difference_and_an_approved_call_accepts_it",
        f"{_MCP}test_a_tool_that_changes_between_showing_and_approving_does_not_run",
    ),
    "MC-05": (f"{_MCP}test_invisible_text_of_a_server_reaches_neither_the_model_nor_the_person",),
    "MC-06": (
        _SERVER_LIMITS,
        "tests/tools/mcp/test_misbehavior.py::test_answers_with_a_foreign_id_or_sent_twice_reach_nobody",
    ),
    "MC-07": (
        "tests/tools/mcp/test_misbehavior.py::test_a_call_without_a_response_times_out_and_is_cancelled_at_the_server",
        "tests/tools/mcp/test_misbehavior.py::test_a_server_that_never_answers_the_handshake_times_out",
    ),
    "MC-08": (
        f"{_MCP}test_a_killed_mcp_server_fails_its_call_within_two_seconds_without_a_retry",
        "tests/tools/mcp/test_misbehavior.py::test_a_server_that_dies_at_start_is_restarted_six_times_and_then_failed",
    ),
    "MC-09": ("tests/tools/mcp/test_connection.py::test_two_calls_at_once_get_their_own_answers",),
    "MC-10": (f"{_MCP}test_a_hint_that_a_tool_only_reads_counts_only_where_the_server_is_trusted",),
    "MC-11": (
        "tests/tools/mcp/test_connection.py::test_a_question_is_declined_where_nobody_can_be_asked",
        "tests/tools/mcp/test_http.py::test_redirects_to_another_origin_are_not_followed",
        "tests/tools/mcp/test_definitions.py::test_a_wrong_definition_is_refused_with_the_allowed_values",
    ),
    "MC-12": ("tests/tools/mcp/test_definitions.py::test_the_common_form_is_read_and_nothing_is_expanded",),
    "MC-13": (_NO_ROUTE, f"{_HTTP}test_a_request_that_adds_a_server_or_a_call_is_refused"),
    "MC-14": (
        _SERVER_LIMITS,
        "tests/tools/mcp/test_connection.py::test_a_result_is_converted_to_text",
        "tests/tools/mcp/test_http.py::test_a_response_is_bounded_and_costs_its_call_only",
        _VISIBLE,
    ),
    "MC-15": (
        "tests/stories/test_elicitation.py::test_in_plan_nobody_is_asked",
        "tests/stories/test_elicitation.py::test_a_sub_agent_of_a_parent_in_plan_mode_asks_nobody",
    ),
    "MC-16": (
        f"{_HTTP}test_a_pattern_of_a_server_is_never_matched",
        f"{_ENDINGS}test_a_hostile_pattern_ends_within_its_time_and_blocks_nobody",
    ),
}

_PAGE: Mapping[str, tuple[str, ...]] = {
    "UI-01": (_TEXT_ONLY, _HEADERS),
    "UI-02": (_TEXT_ONLY, _HEADERS),
    "UI-03": (_TEXT_ONLY, _HEADERS),
    "UI-04": (_TEXT_ONLY,),
    "UI-05": (_TEXT_ONLY, f"{_HTTP}test_the_styles_of_the_web_client_load_nothing", _HEADERS),
    "UI-06": (_TEXT_ONLY, _HEADERS),
    "UI-07": (f"{_HTTP}test_content_of_people_and_models_is_served_as_text_or_data_only", _HEADERS),
    "UI-08": (
        "tests/server/test_workspaces.py::test_the_whole_of_a_long_output_can_be_read_as_plain_text_only",
        f"{_HTTP}test_content_of_people_and_models_is_served_as_text_or_data_only",
    ),
    "UI-09": (_TEXT_ONLY, f"{_HTTP}test_titles_and_names_with_markup_are_data"),
    "UI-10": (f"{_HTTP}test_request_headers_are_never_echoed_in_a_page",),
    "UI-11": (
        f"{_HTTP}test_words_that_look_like_an_event_make_none",
        "tests/server/test_signals.py::test_every_event_is_small_and_well_formed",
    ),
    "UI-12": (f"{_HTTP}test_approval_buttons_are_rendered_outside_of_messages",),
}

_TERMINAL_CASES: Mapping[str, tuple[str, ...]] = {
    "TE-01": (_TERMINAL,),
    "TE-02": (_TERMINAL, f"{_APPROVALS}test_characters_that_hide_text_are_shown_as_codes"),
    "TE-03": (_TERMINAL, _VISIBLE),
    "TE-04": ("tests/tools/builtin/test_search.py::test_a_listing_is_bounded_and_knows_links_and_odd_names", _VISIBLE),
    "TE-05": (_VISIBLE, _TERMINAL),
    "TE-06": (_VISIBLE, _TERMINAL),
}

_APPROVAL: Mapping[str, tuple[str, ...]] = {
    "AP-01": (
        f"{_APPROVALS}test_an_argument_that_claims_approval_is_refused",
        f"{_APPROVALS}test_a_message_that_says_approve_approves_nothing",
    ),
    "AP-02": (
        f"{_TURNS}test_a_decision_with_another_digest_than_the_shown_one_runs_nothing",
        "tests/domain/test_mode_properties.py::test_a_digest_names_one_call_in_one_context_with_these_arguments",
    ),
    "AP-03": (
        "tests/domain/test_mode_properties.py::test_a_digest_names_one_call_in_one_context_with_these_arguments",
        "tests/domain/test_decisions.py::test_an_approval_counts_only_for_its_digest_and_under_its_modes",
    ),
    "AP-04": (
        f"{_APPROVALS}test_a_command_does_not_run_in_another_folder_than_the_shown_one",
        f"{_APPROVALS}test_a_command_does_not_run_in_a_folder_that_took_the_place_of_the_shown_one",
    ),
    "AP-05": (
        f"{_APPROVALS}test_a_script_that_changed_since_it_was_shown_does_not_run",
        f"{_APPROVALS}test_a_program_that_changed_since_it_was_shown_does_not_run",
    ),
    "AP-06": (
        f"{_APPROVALS}test_a_file_that_changed_while_its_diff_was_shown_is_not_written",
        "tests/stories/test_rules.py::test_a_link_changed_while_a_call_waits_does_not_redirect_it",
    ),
    "AP-07": (
        f"{_APPROVALS}test_of_two_simultaneous_decisions_the_second_is_a_conflict",
        f"{_TURNS}test_approving_twice_runs_once_and_the_second_is_a_conflict",
    ),
    "AP-08": (f"{_APPROVALS}test_a_call_is_not_found_in_another_conversation",),
    "AP-09": (
        "tests/stories/test_recovery.py::test_a_resting_state_is_unchanged_and_the_pending_call_still_works",
        "tests/kill/test_kill_turn.py::test_killed_at_random_instants",
    ),
    "AP-10": (
        "tests/stories/test_recovery.py::test_approved_and_not_started_is_pending_again_even_in_agent",
        "tests/stories/test_recovery.py::test_a_call_with_an_intent_and_no_result_is_reported_as_interrupted",
    ),
    "AP-11": (
        f"{_TURNS}test_writes_that_had_not_started_before_a_switch_to_plan_never_start",
        f"{_APPROVALS}test_a_call_that_was_shown_in_one_mode_is_not_run_in_another",
    ),
    # A switch to a looser mode decides waiting calls; those that it would start are shown first.
    "AP-12": (
        "tests/terminal/test_steering.py::test_a_switch_that_would_start_something_dangerous_asks_first",
        "tests/server/test_commands.py::test_a_mode_switch_is_previewed_and_reports_its_effect_on_pending_calls",
    ),
    "AP-13": (f"{_APPROVALS}test_characters_that_hide_text_are_shown_as_codes", _VISIBLE),
    "AP-14": (
        f"{_APPROVALS}test_a_long_command_is_shown_whole",
        f"{_APPROVALS}test_a_command_that_is_padded_is_marked",
    ),
    "AP-15": (
        f"{_APPROVALS}test_a_long_command_is_shown_whole",
        "tests/tools/builtin/test_builtin_tools.py::test_a_shortened_preview_is_marked_and_shows_both_ends",
    ),
    "AP-16": (f"{_APPROVALS}test_a_card_names_a_link_and_its_target",),
    "AP-17": (f"{_APPROVALS}test_letters_that_look_like_others_are_marked",),
    "AP-18": (f"{_APPROVALS}test_approving_all_shows_every_call_and_asks_again_for_a_dangerous_one",),
    "AP-19": (f"{_APPROVALS}test_a_waiting_call_is_not_rejected_after_any_time",),
    "AP-20": (_OTHER_USER,),
    "AP-21": (
        _OTHER_USER,
        "tests/stories/test_queue.py::test_queued_messages_are_taken_one_by_one_after_a_completed_turn_with_their_mode",
        "tests/server/test_ownership.py::test_a_request_whose_body_comes_after_the_context_has_changed_hands_is_404",
    ),
}

_SECRET: Mapping[str, tuple[str, ...]] = {
    "SE-01": (
        f"{_SECRETS}test_output_of_a_command_is_in_no_log",
        f"{_SECRETS}test_text_that_looks_like_a_key_is_hidden_in_the_conversation",
        f"{_ESCALATION}test_no_command_is_given_the_token_or_a_key",
    ),
    "SE-02": (
        f"{_SECRETS}test_in_plan_and_review_nothing_is_sent_out",
        f"{_ALONE}test_a_confined_command_connects_to_no_listener",
    ),
    "SE-03": (
        f"{_ACCESS}test_no_line_of_the_log_contains_a_token",
        "tests/cli/test_serve.py::test_the_log_of_the_server_is_json_lines_without_secrets",
    ),
    "SE-04": (f"{_ACCESS}test_no_line_of_the_log_contains_a_token",),
    "SE-05": (
        f"{_ESCALATION}test_no_command_is_given_the_token_or_a_key",
        "tests/tools/builtin/test_builtin_tools.py::test_a_command_has_no_secrets_and_no_input",
        f"{_ALONE}test_a_confined_command_reads_nothing_of_other_processes",
    ),
    "SE-06": (
        f"{_SECRETS}test_every_stored_file_is_readable_by_its_owner_only_under_any_umask",
        "tests/storage/test_file_store.py::test_every_file_of_the_store_is_private_to_the_user",
        f"{_ACCESS}test_only_the_owner_can_read_the_token_file",
    ),
    "SE-07": (
        f"{_SECRETS}test_an_export_contains_no_data_of_the_runtime",
        f"{_SECRETS}test_an_export_hides_text_that_looks_like_a_key",
    ),
}

_NETWORK: Mapping[str, tuple[str, ...]] = {
    "NE-01": (_NO_FETCHING,),
    "NE-02": (_NO_FETCHING, "tests/tools/mcp/test_http.py::test_redirects_to_another_origin_are_not_followed"),
    "NE-03": (_NO_FETCHING,),
    "NE-04": (
        _NO_FETCHING,
        "tests/tools/mcp/test_definitions.py::test_a_wrong_definition_is_refused_with_the_allowed_values",
    ),
    "NE-05": (
        _NO_FETCHING,
        "tests/tools/mcp/test_http.py::test_a_response_is_bounded_and_costs_its_call_only",
        "tests/tools/mcp/test_http.py::test_compressed_responses_are_not_decompressed",
    ),
}

_ROBUSTNESS: Mapping[str, tuple[str, ...]] = {
    "DS-01": (f"{_ENDINGS}test_a_hostile_pattern_ends_within_its_time_and_blocks_nobody",),
    "DS-02": (
        f"{_HTTP}test_a_body_that_makes_no_sense_is_refused_and_the_server_stays",
        f"{_ACCESS}test_a_large_body_that_is_refused_costs_neither_the_answer_nor_the_connection",
    ),
    "DS-03": (f"{_ENDINGS}test_endless_output_keeps_memory_flat_and_the_server_responsive",),
    "DS-04": (
        f"{_ENDINGS}test_no_process_of_a_stopped_command_is_left",
        f"{_ENDINGS}test_no_process_of_a_command_survives_a_kill_of_the_runtime",
        f"{_ENDINGS}test_no_process_of_a_finished_command_is_left",
    ),
    "DS-05": (f"{_ENDINGS}test_a_command_with_too_many_processes_is_ended_with_a_reason",),
    "DS-06": (
        f"{_ENDINGS}test_a_command_that_wants_input_gets_none_and_ends",
        f"{_ENDINGS}test_an_editor_without_a_terminal_ends_at_its_time_limit",
    ),
    "DS-07": (
        f"{_HTTP}test_hundreds_of_unread_streams_do_not_slow_down_a_turn",
        "tests/server/test_slow_reader.py::test_twenty_stalled_readers_delay_neither_the_turn_nor_a_chat",
    ),
    "DS-08": (
        f"{_SECRETS}test_a_stored_file_instantiates_no_class_by_name",
        f"{_SECRETS}test_no_module_imports_a_serializer_that_can_run_code",
    ),
}

BOUND: Mapping[str, tuple[str, ...]] = {
    **_PATH_ESCAPES,
    **_SERVER,
    **_SELF_ESCALATION,
    **_UNTRUSTED,
    **_SERVERS_OF_TOOLS,
    **_PAGE,
    **_TERMINAL_CASES,
    **_APPROVAL,
    **_SECRET,
    **_NETWORK,
    **_ROBUSTNESS,
}
