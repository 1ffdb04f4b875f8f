/** Scrolls from the card to the line of its call in the transcript. Pending calls are at the end of the transcript. */
const MAX_FRAMES = 20;

export function scrollToCall(id: string, framesLeft = MAX_FRAMES): void {
  const line = [...document.querySelectorAll<HTMLElement>("[data-call-line]")].find(
    (each) => each.dataset.callLine === id,
  );
  if (line !== undefined) {
    line.scrollIntoView({ block: "center" });
    line.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
    return;
  }
  const list = document.querySelector(".transcript");
  if (list !== null && framesLeft === MAX_FRAMES) list.scrollTop = list.scrollHeight;
  if (framesLeft > 0) requestAnimationFrame(() => scrollToCall(id, framesLeft - 1));
}
