import { type ExpectedLoad } from './expected-load.js';

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
