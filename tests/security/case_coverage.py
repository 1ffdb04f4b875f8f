"""Which tests hold each case of tests/data/security_cases.jsonl that is not about the classifier of shell commands.

A case may be held by several: each holds a part of it. Cases about things that there are not (a tool that fetches
addresses, a sign-up, an archive) are bound to the tests that show that there is no such thing, and to what comes next
to it.
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
_PROTECTED = f"{_PATHS}test_what_is_protected_is_not_written_at_any_depth_in_any_case"
_LOOKING = f"{_FOLDERS}test_looking_at_a_hostile_folder_in_review_runs_and_changes_nothing_of_it"
_KEEPING = f"{_FOLDERS}test_the_keepers_of_undo_run_and_change_nothing_of_a_hostile_folder"
_OPENING = f"{_FOLDERS}test_a_folder_with_git_settings_of_its_own_is_opened_without_asking_git"
_STARTING = f"{_FOLDERS}test_a_start_without_a_person_in_a_hostile_folder_trusts_nothing"
_BEFORE_TRUST = f"{_TRUST}test_nothing_that_a_folder_says_counts_before"
_CLOSED = f"{_ACCESS}test_without_the_right_token_every_route_is_closed"
_HEADERS = f"{_ACCESS}test_every_answer_carries_the_headers_that_keep_a_browser_safe"
_FOREIGN = f"{_ACCESS}test_a_page_of_somebody_else_is_refused_on_every_route_and_method"
_STRANGE_NAME = f"{_ACCESS}test_a_name_that_is_not_ours_is_refused_on_every_route"
_NOT_THEIRS = f"{_ACCESS}test_somebody_elses_context_is_not_there_on_any_route"
_NO_ROUTE = f"{_HTTP}test_no_route_runs_a_tool_or_takes_an_address_or_a_program"
_TEXT_ONLY = f"{_HTTP}test_the_page_puts_in_text_only_and_asks_nobody_else"
_NO_FETCHING = f"{_SECRETS}test_no_tool_of_ours_takes_an_address"
_VISIBLE = "tests/domain/deception/test_hidden_characters.py::test_what_would_hide_or_move_something_is_shown"
_TERMINAL = "tests/cli/test_main.py::test_no_control_sequence_of_a_model_or_tool_reaches_the_terminal"
_LIMITS_OF_A_SERVER = (
    "tests/tools/mcp/test_misbehavior.py::test_one_that_breaks_a_limit_has_failed_until_a_person_says_otherwise"
)

_PATH_ESCAPES: Mapping[str, tuple[str, ...]] = {
    "PA-01": (_OUTSIDE, "tests/sandbox/test_workspace.py::test_nothing_outside_is_read_or_written"),
    "PA-02": (_OUTSIDE,),
    "PA-03": (f"{_PATHS}test_a_link_that_a_command_has_just_made_leads_no_tool_out",),
    "PA-04": (_OUTSIDE, "tests/sandbox/test_workspace.py::test_nothing_outside_is_read_or_written"),
    "PA-05": (f"{_PATHS}test_a_rule_that_denies_a_folder_holds_behind_a_link",),
    "PA-06": (f"{_PATHS}test_a_hard_link_is_read_but_what_it_names_elsewhere_is_never_written",),
    "PA-07": (_PROTECTED,),
    "PA-08": (_PROTECTED, f"{_PATHS}test_what_may_hold_keys_is_not_read"),
    "PA-09": (
        _PROTECTED,
        "tests/sandbox/test_workspace.py::test_protected_files_are_never_touched_even_before_they_exist",
    ),
    "PA-10": (
        f"{_PATHS}test_where_a_command_begins_is_not_taken_from_the_one_before",
        f"{_PATHS}test_a_command_does_not_begin_in_a_protected_folder",
        f"{_PATHS}test_a_line_that_plainly_writes_what_is_protected_is_refused_wherever_it_begins",
    ),
    "PA-11": (_OUTSIDE, "tests/tools/builtin/test_builtin_tools.py::test_a_command_runs_and_its_failure_is_told"),
    "PA-12": (_OUTSIDE, f"{_PATHS}test_every_path_in_a_line_is_held_to_the_workspace"),
    "PA-13": (f"{_HTTP}test_no_path_leads_to_a_file",),
    "PA-14": (
        f"{_SWAPS}test_no_tool_is_ever_led_out",
        f"{_SWAPS}test_undo_is_never_led_out",
        f"{_SWAPS}test_a_copy_of_an_upload_is_never_led_out",
        "tests/sandbox/test_workspace.py::test_a_folder_swapped_for_a_link_in_a_race_never_lets_anything_out",
    ),
    "PA-15": (
        f"{_PATHS}test_a_draft_is_never_put_through_a_link_that_lies_in_wait",
        f"{_ALONE}test_such_a_command_has_a_folder_for_what_it_puts_aside_that_goes_with_it",
    ),
    "PA-16": (
        "tests/stories/test_contexts.py::test_ids_in_a_file_cannot_lead_out_of_its_folder",
        f"{_HTTP}test_nothing_that_was_packed_is_unpacked",
        f"{_ACCESS}test_a_body_that_grows_too_large_is_refused",
    ),
    "PA-17": (
        f"{_HTTP}test_an_id_is_a_name_and_nothing_else",
        "tests/storage/test_contract.py::test_an_id_that_is_no_folders_name_is_refused",
    ),
    "PA-18": (
        f"{_TRUST}test_another_folder_that_links_to_what_was_trusted_is_not_trusted",
        f"{_TRUST}test_a_folder_behind_a_link_is_the_same_folder",
        _LOOKING,
    ),
    "PA-19": (
        f"{_PATHS}test_what_is_no_regular_file_is_refused_and_nothing_hangs",
        f"{_PATHS}test_devices_and_processes_are_outside",
        f"{_PATHS}test_a_search_passes_over_what_is_no_regular_file",
    ),
    "PA-20": (
        f"{_PATHS}test_twenty_gigabytes_are_not_taken_into_memory",
        f"{_PATHS}test_a_file_that_grows_while_it_is_read_does_not_hold_anybody_up",
    ),
}

_SERVER: Mapping[str, tuple[str, ...]] = {
    "SV-01": (_CLOSED,),
    "SV-02": (_FOREIGN, f"{_ACCESS}test_what_a_form_can_send_is_refused_on_every_route_that_changes_something"),
    "SV-03": (_STRANGE_NAME,),
    "SV-04": (_STRANGE_NAME, _FOREIGN, f"{_HTTP}test_by_itself_it_listens_on_this_machine_only"),
    "SV-05": (_FOREIGN, f"{_ACCESS}test_a_browser_that_says_that_another_site_asks_is_refused_on_every_route"),
    "SV-06": (_FOREIGN,),
    "SV-07": (_TEXT_ONLY, f"{_HTTP}test_signing_in_leads_to_the_web_client_and_nowhere_else"),
    "SV-08": (_TEXT_ONLY, _HEADERS),
    "SV-09": (f"{_ACCESS}test_no_line_of_the_log_has_a_token_in_it",),
    "SV-10": (f"{_HTTP}test_a_cookie_of_an_old_token_opens_nothing",),
    "SV-11": (f"{_HTTP}test_signing_in_leads_to_the_web_client_and_nowhere_else",),
    "SV-12": (_NOT_THEIRS, "tests/server/test_signals.py::test_a_stream_of_a_foreign_or_unknown_context_is_404"),
    "SV-13": (f"{_ACCESS}test_somebody_elses_context_is_not_there_wherever_an_id_can_be_named",),
    "SV-14": (f"{_HTTP}test_users_that_are_added_at_once_are_all_there",),
    "SV-15": (
        f"{_SIGN_IN}test_a_code_or_a_token_in_the_address_opens_no_other_route",
        f"{_SIGN_IN}test_the_cookie_is_no_token_and_is_kept_from_scripts_and_other_sites",
        _HEADERS,
    ),
    "SV-16": (_CLOSED,),
    "SV-17": (_NO_ROUTE, _CLOSED),
    "SV-18": (
        _NO_ROUTE,
        f"{_HTTP}test_a_server_or_a_call_that_is_put_there_is_refused",
        "tests/server/test_chat.py::test_in_plan_a_change_is_one_error_with_the_hint_then_done",
    ),
    "SV-19": (_HEADERS, f"{_ACCESS}test_a_browser_that_says_that_another_site_asks_is_refused_on_every_route"),
    "SV-20": (_HEADERS,),
    "SV-21": (f"{_ACCESS}test_what_changes_something_cannot_be_asked_for_by_get_or_head",),
    "SV-22": (
        f"{_HTTP}test_by_itself_it_listens_on_this_machine_only",
        "tests/cli/test_serve.py::test_it_refuses_to_be_reachable_from_elsewhere_without_a_token_of_ones_own",
    ),
}

_SELF_ESCALATION: Mapping[str, tuple[str, ...]] = {
    "CF-01": (f"{_ESCALATION}test_what_decides_is_never_written_by_a_tool_whoever_approves",),
    "CF-02": (
        f"{_ESCALATION}test_a_server_that_the_agent_has_written_down_is_not_started_before_the_person_trusts_it",
        f"{_ESCALATION}test_what_decides_is_never_written_by_a_tool_whoever_approves",
    ),
    "CF-03": (f"{_ESCALATION}test_what_decides_is_never_written_by_a_tool_whoever_approves",),
    "CF-04": (
        f"{_ESCALATION}test_what_other_programs_run_is_asked_for_even_in_agent_and_by_every_rule",
        f"{_ESCALATION}test_what_would_run_as_the_person_is_refused_in_every_mode",
        f"{_PATHS}test_what_runs_code_in_a_folder_beside_is_asked_for_too",
    ),
    "CF-05": (
        f"{_ESCALATION}test_a_command_that_plainly_writes_such_a_file_is_refused_in_every_mode",
        f"{_ESCALATION}test_settings_that_a_command_has_written_in_secret_change_nothing",
        f"{_ESCALATION}test_a_command_that_is_kept_to_its_workspace_does_not_write_what_is_protected_in_it",
    ),
    "CF-06": (
        f"{_ESCALATION}test_a_command_cannot_switch_its_own_mode_even_with_the_token",
        f"{_ESCALATION}test_no_command_is_given_the_token_or_a_key",
        f"{_ALONE}test_the_runtimes_own_data_cannot_be_read_by_a_command_that_runs_by_itself",
        f"{_ALONE}test_nobody_can_be_called",
    ),
    "CF-07": (
        "tests/stories/test_subagents.py::test_a_sub_agent_is_bound_by_the_present_mode_of_who_sent_it",
        "tests/domain/test_decisions.py::test_a_sub_agent_is_never_freer_than_who_sent_it",
    ),
    "CF-08": (
        f"{_ESCALATION}test_a_mode_that_stands_in_a_stored_file_is_not_reached_by_any_tool",
        "tests/sandbox/test_workspace.py::test_the_runtimes_own_data_is_never_touched",
        "tests/stories/test_import.py::test_a_looser_mode_than_the_persons_own_is_not_taken_and_is_listed",
    ),
    "CF-09": (
        "tests/config/test_files.py::test_a_project_may_never_make_things_looser_or_speak_for_the_person",
        _STARTING,
    ),
    "CF-10": (f"{_ESCALATION}test_what_the_model_says_of_its_mode_changes_nothing",),
}

_UNTRUSTED: Mapping[str, tuple[str, ...]] = {
    "RP-01": (_STARTING, _OPENING, _BEFORE_TRUST),
    "RP-02": (_STARTING,),
    "RP-03": (f"{_SECRETS}test_a_folder_does_not_say_where_keys_are_sent", _BEFORE_TRUST),
    "RP-04": (
        _STARTING,
        "tests/config/test_files.py::test_a_project_may_never_make_things_looser_or_speak_for_the_person",
    ),
    "RP-05": (_STARTING, _LOOKING, _KEEPING),
    "RP-06": (_STARTING, _OPENING),
    "RP-07": (_STARTING, "tests/server/test_completions.py::test_what_would_need_a_person_is_denied_and_said"),
    "RP-08": (_OPENING, _BEFORE_TRUST),
    "RP-09": (_OPENING, _LOOKING, _KEEPING),
    "RP-10": (_LOOKING, _STARTING),
    "AM-03": (_LOOKING, f"{_FOLDERS}test_the_same_commands_in_a_plain_shell_do_run_what_the_folder_brings"),
    "AM-05": (f"{_FOLDERS}test_variables_that_make_programs_run_something_are_not_passed_on",),
}

_SERVERS_OF_TOOLS: Mapping[str, tuple[str, ...]] = {
    "MC-01": (
        f"{_TRUST}test_a_changed_file_asks_again_and_what_was_trusted_still_holds",
        "tests/tools/mcp/test_definitions.py::test_the_digest_changes_with_all_but_the_origin_and_nothing_secret_is_shown",
    ),
    "MC-02": (
        f"{_MCP}test_a_projects_server_never_shadows_the_persons_own",
        "tests/server/test_tools.py::test_a_tool_of_ones_own_cannot_take_the_name_of_another",
    ),
    "MC-03": (f"{_MCP}test_two_tools_whose_names_become_one_are_withheld_both",),
    "MC-04": (
        f"{_MCP}test_a_changed_tool_waits_again_shows_the_difference_and_an_approved_call_accepts_it",
        f"{_MCP}test_a_tool_that_changes_between_showing_and_approving_does_not_run",
    ),
    "MC-05": (f"{_MCP}test_invisible_text_of_a_server_reaches_neither_the_model_nor_the_person",),
    "MC-06": (
        _LIMITS_OF_A_SERVER,
        "tests/tools/mcp/test_misbehavior.py::test_answers_with_a_foreign_id_or_sent_twice_reach_nobody",
    ),
    "MC-07": (
        "tests/tools/mcp/test_misbehavior.py::test_a_call_without_an_answer_ends_and_the_server_is_told",
        "tests/tools/mcp/test_misbehavior.py::test_one_that_never_answers_the_handshake_is_given_up",
    ),
    "MC-08": (
        f"{_MCP}test_a_server_killed_during_a_call_is_told_within_two_seconds_and_the_call_is_not_made_again",
        "tests/tools/mcp/test_misbehavior.py::test_one_that_dies_at_start_is_tried_again_six_times_and_then_left_alone",
    ),
    "MC-09": ("tests/tools/mcp/test_connection.py::test_two_calls_at_once_get_their_own_answers",),
    "MC-10": (f"{_MCP}test_a_hint_that_a_tool_only_reads_counts_only_where_the_server_is_trusted",),
    "MC-11": (
        "tests/tools/mcp/test_connection.py::test_a_question_is_declined_where_nobody_can_be_asked",
        "tests/tools/mcp/test_http.py::test_nobody_is_followed_to_another_origin",
        "tests/tools/mcp/test_definitions.py::test_what_is_wrong_is_said_with_what_is_allowed",
    ),
    "MC-12": ("tests/tools/mcp/test_definitions.py::test_the_common_form_is_read_and_nothing_is_expanded",),
    "MC-13": (_NO_ROUTE, f"{_HTTP}test_a_server_or_a_call_that_is_put_there_is_refused"),
    "MC-14": (
        _LIMITS_OF_A_SERVER,
        "tests/tools/mcp/test_connection.py::test_a_result_is_told_as_text",
        "tests/tools/mcp/test_http.py::test_a_response_is_bounded_and_costs_its_call_only",
        _VISIBLE,
    ),
    "MC-15": (
        "tests/stories/test_elicitation.py::test_in_plan_nobody_is_asked",
        "tests/stories/test_elicitation.py::test_a_sub_agent_of_one_that_plans_asks_nobody",
    ),
    "MC-16": (
        f"{_HTTP}test_a_pattern_of_a_server_is_never_matched",
        f"{_ENDINGS}test_a_hostile_pattern_ends_within_its_time_and_holds_up_nobody",
    ),
}

_PAGE: Mapping[str, tuple[str, ...]] = {
    "UI-01": (_TEXT_ONLY, _HEADERS),
    "UI-02": (_TEXT_ONLY, _HEADERS),
    "UI-03": (_TEXT_ONLY, _HEADERS),
    "UI-04": (_TEXT_ONLY,),
    "UI-05": (_TEXT_ONLY, f"{_HTTP}test_the_page_loads_nothing_by_its_style", _HEADERS),
    "UI-06": (_TEXT_ONLY, _HEADERS),
    "UI-07": (f"{_HTTP}test_nothing_that_a_person_or_a_model_made_is_given_as_anything_but_text_or_data", _HEADERS),
    "UI-08": (
        "tests/server/test_workspaces.py::test_the_whole_of_a_long_output_can_be_read_as_plain_text_only",
        f"{_HTTP}test_nothing_that_a_person_or_a_model_made_is_given_as_anything_but_text_or_data",
    ),
    "UI-09": (_TEXT_ONLY, f"{_HTTP}test_titles_and_names_with_markup_are_data"),
    "UI-10": (f"{_HTTP}test_what_a_browser_says_of_itself_is_not_said_back",),
    "UI-11": (
        f"{_HTTP}test_words_that_look_like_an_event_make_none",
        "tests/server/test_signals.py::test_an_event_is_small_and_well_formed_whatever_it_is_about",
    ),
    "UI-12": (f"{_HTTP}test_the_answers_to_calls_stand_outside_of_what_was_said",),
}

_TERMINAL_CASES: Mapping[str, tuple[str, ...]] = {
    "TE-01": (_TERMINAL,),
    "TE-02": (_TERMINAL, f"{_APPROVALS}test_signs_that_hide_something_are_shown_as_what_they_are"),
    "TE-03": (_TERMINAL, _VISIBLE),
    "TE-04": ("tests/tools/builtin/test_search.py::test_a_listing_is_bounded_and_knows_links_and_odd_names", _VISIBLE),
    "TE-05": (_VISIBLE, _TERMINAL),
    "TE-06": (_VISIBLE, _TERMINAL),
}

_APPROVAL: Mapping[str, tuple[str, ...]] = {
    "AP-01": (
        f"{_APPROVALS}test_an_argument_that_calls_itself_approved_is_no_argument",
        f"{_APPROVALS}test_a_message_that_says_approve_approves_nothing",
    ),
    "AP-02": (
        f"{_TURNS}test_a_decision_names_what_was_shown_or_runs_nothing",
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
        "tests/stories/test_rules.py::test_a_link_that_changes_while_a_call_waits_leads_it_nowhere_else",
    ),
    "AP-07": (
        f"{_APPROVALS}test_of_two_answers_at_once_the_first_counts_and_the_second_is_told",
        f"{_TURNS}test_approving_twice_runs_once_and_tells_the_second",
    ),
    "AP-08": (f"{_APPROVALS}test_a_call_is_not_found_in_another_conversation",),
    "AP-09": (
        "tests/stories/test_recovery.py::test_a_resting_state_is_unchanged_and_the_pending_call_still_works",
        "tests/kill/test_kill_turn.py::test_killed_at_random_instants",
    ),
    "AP-10": (
        "tests/stories/test_recovery.py::test_approved_and_not_started_is_pending_again_even_in_agent",
        "tests/stories/test_recovery.py::test_a_call_with_an_intent_and_no_result_is_told_as_such",
    ),
    "AP-11": (
        f"{_TURNS}test_after_a_switch_to_plan_the_writes_that_had_not_started_never_do",
        f"{_APPROVALS}test_a_call_that_was_shown_in_one_mode_is_not_run_in_another",
    ),
    # A switch to a looser mode is a decision about what waits; what it would start is shown before.
    "AP-12": (
        "tests/terminal/test_steering.py::test_a_switch_that_would_start_something_dangerous_asks_first",
        "tests/server/test_commands.py::test_a_switch_is_previewed_and_tells_what_became_of_pending_calls",
    ),
    "AP-13": (f"{_APPROVALS}test_signs_that_hide_something_are_shown_as_what_they_are", _VISIBLE),
    "AP-14": (
        f"{_APPROVALS}test_a_long_command_is_shown_whole",
        f"{_APPROVALS}test_a_command_that_is_padded_is_marked",
    ),
    "AP-15": (
        f"{_APPROVALS}test_a_long_command_is_shown_whole",
        "tests/tools/builtin/test_builtin_tools.py::test_a_preview_that_is_not_whole_says_so_and_shows_both_ends",
    ),
    "AP-16": (f"{_APPROVALS}test_both_the_link_and_what_it_leads_to_are_told",),
    "AP-17": (f"{_APPROVALS}test_letters_that_look_like_others_are_marked",),
    "AP-18": (f"{_APPROVALS}test_who_approves_all_is_shown_all_and_asked_for_what_is_dangerous",),
    "AP-19": (f"{_APPROVALS}test_waiting_for_a_person_is_no_refusal_however_long_it_takes",),
    "AP-20": (_NOT_THEIRS,),
    "AP-21": (
        _NOT_THEIRS,
        "tests/stories/test_queue.py::test_queued_messages_are_taken_one_by_one_after_a_completed_turn_with_their_mode",
        "tests/server/test_ownership.py::test_a_request_whose_body_comes_after_the_context_has_changed_hands_is_404",
    ),
}

_SECRET: Mapping[str, tuple[str, ...]] = {
    "SE-01": (
        f"{_SECRETS}test_what_a_command_prints_is_in_no_log",
        f"{_SECRETS}test_what_looks_like_a_key_is_hidden_from_the_conversation",
        f"{_ESCALATION}test_no_command_is_given_the_token_or_a_key",
    ),
    "SE-02": (f"{_SECRETS}test_in_plan_and_review_nothing_is_sent_out", f"{_ALONE}test_nobody_can_be_called"),
    "SE-03": (
        f"{_ACCESS}test_no_line_of_the_log_has_a_token_in_it",
        "tests/cli/test_serve.py::test_its_log_is_json_lines_without_a_secret",
    ),
    "SE-04": (f"{_ACCESS}test_no_line_of_the_log_has_a_token_in_it",),
    "SE-05": (
        f"{_ESCALATION}test_no_command_is_given_the_token_or_a_key",
        "tests/tools/builtin/test_builtin_tools.py::test_a_command_has_no_secrets_and_no_input",
        f"{_ALONE}test_nothing_of_a_process_outside_can_be_read",
    ),
    "SE-06": (
        f"{_SECRETS}test_all_that_is_kept_is_for_its_owner_whatever_the_umask",
        "tests/storage/test_files.py::test_everything_is_private_to_the_user",
        f"{_ACCESS}test_only_its_owner_can_read_the_file_of_tokens",
    ),
    "SE-07": (
        f"{_SECRETS}test_an_export_has_nothing_of_the_runtime_itself",
        f"{_SECRETS}test_an_export_hides_what_looks_like_a_key",
    ),
}

_NETWORK: Mapping[str, tuple[str, ...]] = {
    "NE-01": (_NO_FETCHING,),
    "NE-02": (_NO_FETCHING, "tests/tools/mcp/test_http.py::test_nobody_is_followed_to_another_origin"),
    "NE-03": (_NO_FETCHING,),
    "NE-04": (_NO_FETCHING, "tests/tools/mcp/test_definitions.py::test_what_is_wrong_is_said_with_what_is_allowed"),
    "NE-05": (
        _NO_FETCHING,
        "tests/tools/mcp/test_http.py::test_a_response_is_bounded_and_costs_its_call_only",
        "tests/tools/mcp/test_http.py::test_nothing_is_unpacked",
    ),
}

_ROBUSTNESS: Mapping[str, tuple[str, ...]] = {
    "DS-01": (f"{_ENDINGS}test_a_hostile_pattern_ends_within_its_time_and_holds_up_nobody",),
    "DS-02": (
        f"{_HTTP}test_a_body_that_makes_no_sense_is_refused_and_the_server_stays",
        f"{_ACCESS}test_a_large_body_that_is_refused_costs_neither_the_answer_nor_the_connection",
    ),
    "DS-03": (f"{_ENDINGS}test_however_much_is_printed_memory_stays_flat_and_others_are_answered",),
    "DS-04": (
        f"{_ENDINGS}test_after_a_stop_nothing_of_a_command_is_left",
        f"{_ENDINGS}test_when_the_runtime_is_killed_nothing_of_a_command_is_left",
        f"{_ENDINGS}test_when_a_command_is_over_nothing_of_it_is_left",
    ),
    "DS-05": (f"{_ENDINGS}test_a_command_with_too_many_processes_is_ended_with_all_of_them_and_says_so",),
    "DS-06": (
        f"{_ENDINGS}test_a_command_that_wants_input_gets_none_and_ends",
        f"{_ENDINGS}test_an_editor_without_a_terminal_ends_at_its_time_limit",
    ),
    "DS-07": (
        f"{_HTTP}test_who_opens_many_streams_and_never_reads_hinders_nobody",
        "tests/server/test_slow_reader.py::test_twenty_who_stop_reading_hold_up_neither_the_turn_nor_a_chat",
    ),
    "DS-08": (
        f"{_SECRETS}test_a_stored_file_makes_nothing_by_name",
        f"{_SECRETS}test_nothing_here_reads_a_form_that_can_hold_code",
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
