/** Sent messages that the fetched queue does not contain yet, so that they stay visible. */
import type { Outgoing } from "../../../store/state";

/**
 * `previous` is the last result, `sending` the messages in flight, `count` the server's queue length, `listedIds` the
 * ids of the fetched queue.
 */
export function unlistedOutgoing(
  previous: readonly Outgoing[],
  sending: readonly Outgoing[],
  listedIds: readonly string[],
  count: number,
): readonly Outgoing[] {
  const all = new Map([...previous, ...sending].map((each) => [each.key, each]));
  return [...all.values()].filter(({ key, messageId }) => {
    const isOnItsWay = sending.some((each) => each.key === key);
    if (messageId === null) return isOnItsWay;
    return !listedIds.includes(messageId) && (isOnItsWay || count > listedIds.length);
  });
}
