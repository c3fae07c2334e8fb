import { DomainError } from '../../core/shared/domain-error.js';
import { type AudioUrl } from '../worker-pool/worker-task.js';

/** What browsers and proxies take for certain; signed URLs of object stores have about 1000 characters. */
const MAX_CHARACTERS = 4096;

/**
 * The form field `file_url`: its form only. Where it leads is checked by the worker that fetches it.
 * @throws DomainError `invalid_value`; the value is not repeated, as it may hold a signature or a password.
 */
export function audioUrl(value: unknown): AudioUrl {
  if (typeof value !== 'string') throw invalid('must be sent once, as text');
  if (value.length > MAX_CHARACTERS) {
    throw invalid(`must be at most ${MAX_CHARACTERS} characters long; got ${value.length}`);
  }
  const url = URL.parse(value);
  if (url === null) throw invalid('must be a URL such as https://example.com/speech.mp3');
  const { protocol, username, password } = url;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw invalid(`must be http or https; got ${protocol.slice(0, -1)}`);
  if (username !== '' || password !== '') throw invalid('must not hold a user name or password');
  url.hash = '';
  return { url: url.href };
}

/** Last part of the path: a hint for the container, as the name of an uploaded file is. */
export function filenameOf({ url }: AudioUrl): string {
  const name = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const invalid = (rule: string): DomainError =>
  new DomainError('invalid_value', `\`file_url\` ${rule}.`, { param: 'file_url' });
