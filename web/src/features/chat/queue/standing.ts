/** What was sent to the queue and is not listed there yet, so that it is seen all the time. */
import type { Outgoing } from "../../../store/state";

/** `before` is what stood there last, `waiting` what is on its way, `count` how many the server has, `ids` those listed. */
export function standingIn(
  before: readonly Outgoing[],
  waiting: readonly Outgoing[],
  ids: readonly string[],
  count: number,
): readonly Outgoing[] {
  const all = new Map([...before, ...waiting].map((each) => [each.key, each]));
  return [...all.values()].filter(({ key, messageId }) => {
    const isOnItsWay = waiting.some((each) => each.key === key);
    if (messageId === null) return isOnItsWay;
    return !ids.includes(messageId) && (isOnItsWay || count > ids.length);
  });
}
