"""Chinese texts of the pages on which a browser signs in."""

from collections.abc import Mapping

SIGN_IN: Mapping[str, str] = {
    "confirm": "要让此浏览器以“{user}”的身份登录吗？仅当此链接由你自己获取时才继续。",
    "replace": "此浏览器目前以“{present}”的身份登录。以“{user}”的身份登录后，“{present}”将在此浏览器中退出登录。",
    "button": "以“{user}”的身份登录",
    "token": "访问令牌",
    "enter": "登录",
    "local": "本机用户",
}
