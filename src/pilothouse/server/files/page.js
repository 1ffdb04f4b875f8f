// A plain page that proves the API: one stream of signals, everything else is pulled.

const $ = (id) => document.getElementById(id);
const view = { id: null, context: null, messages: new Map(), texts: new Map() };
let stream = null;

async function api(method, path, body) {
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(path, options);
  const data = answer.status === 204 ? null : await answer.json();
  if (!answer.ok) throw new Error(data.detail);
  return data;
}

const here = (rest = "") => `/api/contexts/${view.id}${rest}`;

async function guarded(work) {
  try {
    await work();
  } catch (error) {
    $("state").textContent = error.message;
  }
}

async function pull() {
  const id = view.id;
  const context = await api("GET", here());
  const branch = context.branches[context.active_branch];
  const wanted = branch.message_ids.filter((each) => !view.messages.get(each)?.settled);
  const found = wanted.length ? await api("GET", here(`/messages?ids=${wanted.join(",")}`)) : [];
  if (id !== view.id) return;
  for (const message of found) {
    const open = (message.calls ?? []).some((call) => ["pending", "approved", "executing"].includes(call.status));
    const unread = message.type === "file_reference" && !message.resolved_at;
    view.messages.set(message.message_id, { message, settled: !open && !unread });
  }
  view.context = context;
  draw();
}

async function pullText(messageId) {
  const known = view.texts.get(messageId) ?? { sequence: 0, text: "" };
  const pieces = await api("GET", here(`/messages/${messageId}/content?from_sequence=${known.sequence}`));
  for (const piece of pieces) {
    if (piece.sequence !== known.sequence + 1) continue;
    known.sequence = piece.sequence;
    known.text += piece.delta;
  }
  view.texts.set(messageId, known);
  draw();
}

let busy = Promise.resolve();
const inTurn = (work) => (busy = busy.then(() => guarded(work)));

function listen() {
  stream?.close();
  stream = new EventSource(`/api/stream?contexts=${view.id}`);
  const onSignal = (event) => {
    const data = JSON.parse(event.data);
    if (data.context_id && data.context_id !== view.id) return;
    if (event.type === "ContentDelta") inTurn(() => pullText(data.message_id));
    else if (event.type === "StateChanged") showState(data.state);
    else if (event.type === "Error") $("state").textContent = data.error_message;
    else if (event.type !== "SessionChanged") inTurn(pull);
  };
  for (const name of ["StateChanged", "MessageCreated", "ContentDelta", "MessageCompleted", "MessageChanged", "ContextChanged", "SessionChanged", "Error"]) {
    stream.addEventListener(name, onSignal);
  }
  stream.onerror = () => ($("state").textContent = "not connected");
}

function showState(state) {
  $("state").textContent = state.type === "idle" ? "" : state.type.replaceAll("_", " ");
}

function card(title, text, kind) {
  const article = document.createElement("article");
  article.className = kind;
  const heading = document.createElement("h2");
  heading.textContent = title;
  const body = document.createElement("pre");
  body.textContent = text;
  article.append(heading, body);
  return article;
}

function drawn(message) {
  switch (message.type) {
    case "text":
      return card(message.role, message.content, message.role);
    case "tool_request":
      return card("assistant", [message.content, ...message.calls.map((call) => `${call.display_name}: ${call.status}`)].filter(Boolean).join("\n"), "assistant");
    case "tool_result":
      return card(`${message.tool}: ${message.status}`, message.content, "tool");
    case "error":
      return card("error", message.reason.code, "error");
    case "file_reference":
      return card("file", message.path, "user");
    case "system_control":
      if (message.kind === "mode_switch") return card("mode", `${message.detail.from} → ${message.detail.to}`, "system");
      return card(message.kind.replaceAll("_", " "), message.content ?? "", "system");
    default:
      return card(message.type, message.content ?? "", "system");
  }
}

function draw() {
  const { context } = view;
  const ids = context.branches[context.active_branch].message_ids;
  const cards = ids.map((id) => view.messages.get(id)).filter(Boolean).map((each) => drawn(each.message));
  const streaming = context.streaming?.message_id;
  for (const [id, known] of view.texts) {
    if (ids.includes(id)) view.texts.delete(id);
    else if (known.text) cards.push(card("assistant", known.text, "assistant"));
  }
  if (streaming && !view.texts.has(streaming) && !ids.includes(streaming)) inTurn(() => pullText(streaming));
  const list = $("messages");
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 80;
  const empty = document.createElement("p");
  empty.className = "empty";
  empty.textContent = "Nothing has been said yet.";
  list.replaceChildren(...(cards.length ? cards : [empty]));
  if (atEnd) list.scrollTop = list.scrollHeight;
  $("mode").value = context.mode;
  const option = [...$("contexts").options].find((each) => each.value === context.context_id);
  if (option) option.textContent = context.title ?? "(new)";
  showState(context.current_state);
  $("pending").replaceChildren(...context.pending_tool_calls.map(decision), ...context.open_questions.map(question));
}

function button(text, work) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.onclick = () => guarded(work);
  return made;
}

function decision(call) {
  const article = card(`${call.display_name} waits for you`, call.preview ?? JSON.stringify(call.arguments, null, 2), "call");
  article.append(
    button("Approve", () => api("POST", here(`/tool-calls/${call.id}/approve`), { digest: call.digest })),
    button("Reject", () => api("POST", here(`/tool-calls/${call.id}/reject`), {})),
  );
  return article;
}

function question(call) {
  const asked = call.arguments.questions;
  const article = card("A question", asked.map((each) => each.question).join("\n"), "call");
  const fields = asked.map((each) => {
    const field = document.createElement("textarea");
    field.setAttribute("aria-label", each.question);
    return field;
  });
  article.append(...fields, button("Answer", () => api("POST", here("/answers"), { answers: fields.map((field) => field.value) })));
  return article;
}

async function show(id) {
  Object.assign(view, { id, context: null, messages: new Map(), texts: new Map() });
  listen();
  await pull();
  await api("PUT", "/api/session/active-context", { context_id: id });
}

async function list() {
  const [page, session, modes] = await Promise.all([api("GET", "/api/contexts"), api("GET", "/api/session"), api("GET", "/api/modes")]);
  $("mode").replaceChildren(...modes.items.map((mode) => new Option(`${mode.icon} ${mode.title}`, mode.name)));
  $("contexts").replaceChildren(...page.items.map((each) => new Option(each.title ?? "(new)", each.context_id)));
  return session.active_context_id ?? page.items[0]?.context_id;
}

async function create() {
  const made = await api("POST", "/api/contexts", {});
  await list();
  $("contexts").value = made.context_id;
  await show(made.context_id);
}

async function send() {
  const content = $("text").value;
  if (!content.trim()) return;
  await api("POST", here("/messages"), { payload: { type: "text", content }, queue: true });
  $("text").value = "";
}

$("send").onclick = () => guarded(send);
$("text").onkeydown = (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    guarded(send);
  }
};
$("new").onclick = () => guarded(create);
$("cancel").onclick = () => guarded(() => api("POST", here("/cancel")));
$("continue").onclick = () => guarded(() => api("POST", here("/continue")));
$("mode").onchange = () => guarded(() => api("PUT", here("/mode"), { mode: $("mode").value }));
$("contexts").onchange = () => guarded(() => show($("contexts").value));

guarded(async () => {
  const active = await list();
  if (active) {
    $("contexts").value = active;
    await show(active);
  } else {
    await create();
  }
});
