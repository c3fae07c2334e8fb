import { isLoopback } from '../../../platform/http/networks.js';
import { HubError } from './hub-error.js';

/** Where model files come from. */
export type ModelSource =
  | {
      /** `package`: wheels of a package index, which the catalogue names. */
      readonly kind: 'hub' | 'package';
      readonly repository: string;
      readonly revision: string;
    }
  /** One file, or the `switchyard-model.json` of a folder that a web server offers. */
  | { readonly kind: 'url'; readonly url: string };

const REPOSITORY = /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)?$/;
const REVISION = /^[A-Za-z0-9][\w./-]*$/;
const FORMS = 'hf:organisation/name, hf:organisation/name@revision, or an https URL';

/** @throws HubError `order` for everything that is neither. */
export function parseSource(text: string): ModelSource {
  if (text.startsWith('hf:')) return hubSource(text.slice(3));
  if (text.startsWith('package:'))
    return { ...hubSource(text.slice('package:'.length)), kind: 'package' };
  if (!URL.canParse(text))
    throw new HubError('order', `"${text}" is no source of model files; allowed: ${FORMS}`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    throw new HubError(
      'order',
      'a URL with a password in it would end up in logs and manifests; leave it out',
    );
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw new HubError(
      'order',
      `${url.protocol}// is not safe for model files; allowed: https, or http to this machine`,
    );
  }
  return { kind: 'url', url: url.href };
}

/** The source as it is typed: `parseSource(sourceText(s))` is `s`. */
export const sourceText = (source: ModelSource): string =>
  source.kind === 'url'
    ? source.url
    : `${source.kind === 'hub' ? 'hf' : 'package'}:${source.repository}@${source.revision}`;

/**
 * The folder a model gets when the caller names none: the last part of the repository or
 * of the URL's path.
 */
export function suggestedName(source: ModelSource): string {
  if (source.kind !== 'url') return source.repository.split('/').at(-1) ?? source.repository;
  const last = urlFileName(source.url);
  if (last === 'switchyard-model.json')
    return urlFileName(new URL('.', source.url).href.slice(0, -1));
  return last.replace(/\.[a-z0-9]+$/i, '');
}

function hubSource(text: string): Extract<ModelSource, { repository: string }> {
  const [repository = '', revision = 'main', ...rest] = text.split('@');
  const safe = !text.includes('..') && REPOSITORY.test(repository) && REVISION.test(revision);
  if (!safe || rest.length > 0) {
    throw new HubError(
      'order',
      `"hf:${text}" is no repository; allowed: hf:organisation/name or hf:organisation/name@revision`,
    );
  }
  return { kind: 'hub', repository, revision };
}

/** The last part of a URL's path, without what escapes may hide in it. */
export function urlFileName(url: string): string {
  const name = decoded(new URL(url).pathname.split('/').at(-1) ?? '');
  return name.split('/').at(-1) ?? '';
}

function decoded(part: string) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
