/** From the card to the line of its call in the conversation. What waits stands at the end of that. */
const TRIES = 20;

export function jumpToCall(id: string, tries = TRIES): void {
  const line = [...document.querySelectorAll<HTMLElement>("[data-call-line]")].find(
    (each) => each.dataset.callLine === id,
  );
  if (line !== undefined) {
    line.scrollIntoView({ block: "center" });
    line.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
    return;
  }
  const list = document.querySelector(".transcript");
  if (list !== null && tries === TRIES) list.scrollTop = list.scrollHeight;
  if (tries > 0) requestAnimationFrame(() => jumpToCall(id, tries - 1));
}
