"""English texts of the pages on which a browser signs in."""

from collections.abc import Mapping

SIGN_IN: Mapping[str, str] = {
    "confirm": "Sign this browser in as {user}? Only continue if you requested this link yourself.",
    "replace": "This browser is signed in as {present}. If you sign in as {user}, {present} will be signed out here.",
    "button": "Sign in as {user}",
    "token": "Access token",
    "enter": "Sign in",
    "local": "the user of this computer",
}
