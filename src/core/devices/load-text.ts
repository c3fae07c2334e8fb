import { type ExpectedLoad } from './expected-load.js';
import { type Swap } from './swap-policy.port.js';

/** What a request of a model that is not on its device waits for, as part of a sentence. */
export function loadText(model: string, load: ExpectedLoad | undefined): string {
  if (!load) return `${model} is not loaded, and pinned models leave no room for it`;
  const { device, inMs, leaving } = load;
  const about = `${model} takes requests in about ${Math.ceil(inMs / 1000)} s`;
  if (leaving.length === 0) return `${model} is being loaded on ${device}; ${about}`;
  const others = leaving.map(({ model: name, running }) => `${name} (${ahead(running)})`);
  return `it waits for ${others.join(', ')} to leave ${device}; ${about}`;
}

const ahead = (count: number): string => `${count} request${count === 1 ? '' : 's'} ahead`;

const BECAUSE: Readonly<Record<Swap['reason'], string>> = {
  pin: 'it is pinned',
  realtime: 'REALTIME requests wait for it',
  aged: 'BATCH requests that have aged wait for it',
  waiting: 'BATCH requests wait for it',
  prewarm: 'it is prewarmed',
};

/** Which model is loaded next, why, and when others leave for it. */
export function swapText({ model, device, leaving, atMs, reason }: Swap, nowMs: number): string {
  const next = `${model} is next on ${device}, because ${BECAUSE[reason]}`;
  if (leaving.length === 0) return next;
  const [leave, names] = [leaving.length === 1 ? 'leaves' : 'leave', leaving.join(' and ')];
  if (atMs === Infinity)
    return `${next}; ${names} ${leave} when all have been sent who waited while it was loaded`;
  const when = atMs > nowMs ? `in ${Math.ceil((atMs - nowMs) / 1000)} s` : 'now';
  return `${next}; ${names} ${leave} ${when}`;
}
