"""Reasons: everything that is told to a person is stored as a code with parameters.

The words are made where they are read, in the reader's language, and in English for the model.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

import msgspec

Language = Literal["en", "zh"]


class Code(StrEnum):
    # input
    UNKNOWN_RULE = "unknown_rule"
    UNKNOWN_PERSONA = "unknown_persona"
    UNKNOWN_QUEUED = "unknown_queued"
    INVALID_CURSOR = "invalid_cursor"
    RULE_WITHOUT_TOOL = "rule_without_tool"
    RULE_FOLDER = "rule_folder"
    RULE_NOT_OFFERED = "rule_not_offered"
    RULE_MINUTES = "rule_minutes"
    RULE_WITH_EDIT = "rule_with_edit"
    POLICY_DEPTH = "policy_depth"
    ELEVATION_END = "elevation_end"
    ELEVATION_CALLS = "elevation_calls"
    ELEVATION_MINUTES = "elevation_minutes"
    ELEVATION_WITHOUT_TURN = "elevation_without_turn"
    MERGE_INTO_ITSELF = "merge_into_itself"
    MERGE_IDS = "merge_ids"
    MERGE_NOT_ON_SOURCE = "merge_not_on_source"
    COMMAND_USAGE = "command_usage"
    INVALID_PATH = "invalid_path"
    INVALID_NUMBER = "invalid_number"
    INVALID_EXPORT = "invalid_export"
    INVALID_CONFIG = "invalid_config"
    KEY_REUSED = "key_reused"
    UNKNOWN_MODE = "unknown_mode"
    UNKNOWN_CONTEXT = "unknown_context"
    UNKNOWN_MESSAGE = "unknown_message"
    UNKNOWN_CALL = "unknown_call"
    UNKNOWN_BRANCH = "unknown_branch"
    UNKNOWN_MODEL = "unknown_model"
    INVALID_ID = "invalid_id"
    INVALID_NAME = "invalid_name"
    INVALID_PAYLOAD = "invalid_payload"
    EMPTY_MESSAGE = "empty_message"
    TEXT_TOO_LARGE = "text_too_large"
    NOT_TEXT = "not_text"
    UNSUPPORTED_PAYLOAD = "unsupported_payload"
    INVALID_WORKSPACE = "invalid_workspace"
    INVALID_ANSWERS = "invalid_answers"
    MISSING_KEY = "missing_key"
    # not now
    NOT_ELEVATABLE = "not_elevatable"
    NO_ELEVATION = "no_elevation"
    NOT_PAUSABLE = "not_pausable"
    NOT_PAUSED = "not_paused"
    QUEUE_FULL = "queue_full"
    TOO_MANY_RULES = "too_many_rules"
    BRANCH_IN_USE = "branch_in_use"
    RULE_IN_FILE = "rule_in_file"
    TURN_ACTIVE = "turn_active"
    NOT_CONTINUABLE = "not_continuable"
    NOTHING_TO_CANCEL = "nothing_to_cancel"
    NOTHING_TO_RETRY = "nothing_to_retry"
    NO_QUESTION = "no_question"
    CALL_DECIDED = "call_decided"
    DIGEST_CHANGED = "digest_changed"
    BRANCH_EXISTS = "branch_exists"
    CONTEXT_EXISTS = "context_exists"
    MESSAGE_INCOMPLETE = "message_incomplete"
    RUNTIME_CLOSED = "runtime_closed"
    # decisions
    ELEVATION_RUNS = "elevation_runs"
    ANCESTOR_DENIED = "ancestor_denied"
    ANCESTOR_WAITS = "ancestor_waits"
    DIRECTORY_DENIED = "directory_denied"
    DIRECTORY_WAITS = "directory_waits"
    RULE_ALLOWS = "rule_allows"
    RULE_ASKS = "rule_asks"
    RULE_DENIES = "rule_denies"
    POLICY_WAITS = "policy_waits"
    PERSONA_DENIED = "persona_denied"
    DELEGATION_TOO_DEEP = "delegation_too_deep"
    MODE_RUNS = "mode_runs"
    MODE_WAITS = "mode_waits"
    MODE_DENIED = "mode_denied"
    ELEVATION_OFFERED = "elevation_offered"
    APPROVED = "approved"
    ELEVATED = "elevated"
    QUESTION = "question"
    UNKNOWN_TOOL = "unknown_tool"
    TOOL_DISABLED = "tool_disabled"
    INVALID_ARGUMENTS = "invalid_arguments"
    OUTSIDE_WORKSPACE = "outside_workspace"
    PROTECTED_PATH = "protected_path"
    # what became of a call
    SUBAGENT_ENDED = "subagent_ended"
    REACH_CHANGED = "reach_changed"
    WHY_RUN = "why_run"
    WHY_WAIT = "why_wait"
    WHY_DENY = "why_deny"
    WHY_APPROVED = "why_approved"
    WHY_REJECTED = "why_rejected"
    WHY_STARTED = "why_started"
    WHY_ENDED = "why_ended"
    REJECTED = "rejected"
    REJECTED_BY_SWITCH = "rejected_by_switch"
    ROUND_DENIED = "round_denied"
    NOT_RUN = "not_run"
    CANCELLED = "cancelled"
    INTERRUPTED_CALL = "interrupted_call"
    MAY_HAVE_RUN = "may_have_run"
    ARGUMENTS_EDITED = "arguments_edited"
    TOOL_FAILED = "tool_failed"
    TOOL_TIMED_OUT = "tool_timed_out"
    # tools
    FILE_MISSING = "file_missing"
    FILE_NOT_TEXT = "file_not_text"
    FILE_TOO_LARGE = "file_too_large"
    NOT_A_FILE = "not_a_file"
    NOT_A_DIRECTORY = "not_a_directory"
    FILE_UNREADABLE = "file_unreadable"
    FILE_CHANGED = "file_changed"
    TEXT_NOT_FOUND = "text_not_found"
    TEXT_NOT_UNIQUE = "text_not_unique"
    BAD_LINE_RANGE = "bad_line_range"
    # the end of a turn
    LIMIT_COST = "limit_cost"
    PROCESSOR_FAILED = "processor_failed"
    INTERRUPTED = "interrupted"
    LIMIT_ROUNDS = "limit_rounds"
    LIMIT_REPEATED_CALL = "limit_repeated_call"
    LIMIT_TURN_TIME = "limit_turn_time"
    LIMIT_TOKENS = "limit_tokens"
    EMPTY_ANSWER = "empty_answer"
    # the model
    MODEL_CONNECT = "model_connect"
    MODEL_TIMEOUT = "model_timeout"
    MODEL_CUT = "model_cut"
    MODEL_RATE_LIMITED = "model_rate_limited"
    MODEL_OVERLOADED = "model_overloaded"
    MODEL_REFUSED = "model_refused"
    MODEL_AUTH = "model_auth"
    MODEL_GARBLED = "model_garbled"
    MODEL_ENDLESS = "model_endless"
    SCRIPT_EXHAUSTED = "script_exhausted"
    SCRIPT_INVALID = "script_invalid"
    # the store
    RULES_DAMAGED = "rules_damaged"
    STORE_REFUSED = "store_refused"
    STORE_READ_ONLY = "store_read_only"
    STORE_LOCKED = "store_locked"
    STALE_VERSION = "stale_version"
    STALE_FENCE = "stale_fence"
    CONTEXT_DAMAGED = "context_damaged"
    FORMAT_TOO_NEW = "format_too_new"
    TAIL_CUT = "tail_cut"
    JOURNAL_GAP = "journal_gap"
    METADATA_REBUILT = "metadata_rebuilt"
    MESSAGE_DAMAGED = "message_damaged"
    AUDIT_BROKEN = "audit_broken"
    INTERNAL = "internal"


class Reason(msgspec.Struct, frozen=True):
    """Why something is as it is: a stable code and the parameters of its words."""

    code: Code
    params: Mapping[str, Any] = {}


def say(reason: Reason, language: Language = "en") -> str:
    """The reason in words. A parameter that is missing shows as its name, never as an error."""
    from pilothouse.domain.words import WORDS  # the tables are large and rarely needed at start

    english, chinese = WORDS[reason.code]
    template = chinese if language == "zh" else english
    return template.format_map(_Forgiving(reason.params))


class _Forgiving(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return f"({key})"
