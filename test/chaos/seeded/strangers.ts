import { pause } from '../../support/waiting.js';
import { type Entry } from './ledger.js';
import { type Turn } from './operation.js';
import { type Answer, RETRY_MS, type Sent } from './tenant-client.js';

/** One thing that another tenant tries. */
interface Try {
  readonly path: string;
  readonly sent?: Sent;
}

export const reads = (path: string): Try => ({ path });
export const posts = (path: string, body?: object): Try => ({
  path,
  sent: body
    ? {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }
    : { method: 'POST' },
});
export const deletes = (path: string): Try => ({ path, sent: { method: 'DELETE' } });

/** A cancel that found nothing is told so, whether the request exists elsewhere or not. */
const isSeen = ({ status, text }: Answer): boolean =>
  status < 500 && ![404, 429].includes(status) && !text.includes('"cancelled":false');

/**
 * To another tenant this object is unknown, whatever is tried: 404, and in no list. No
 * answer, and one that says to come again, are no proof.
 * @param lists whose entries must not name the object
 */
export async function expectHidden(
  { client, stranger }: Turn,
  entry: Entry,
  id: string,
  { tries, lists = [] }: { readonly tries: readonly Try[]; readonly lists?: readonly string[] },
): Promise<boolean> {
  const violate = (did: string, text: string): boolean => {
    client.ledger.violate('tenant', entry, `${stranger.tenant} ${did}: ${text.slice(0, 300)}`);
    return false;
  };
  /** After a break it waits as SDKs do: a process that is dying still takes connections. */
  const attempted = async (path: string, sent?: Sent): Promise<Answer | undefined> => {
    const answer = await stranger.attempt(path, sent);
    if (!answer) await pause(RETRY_MS);
    return answer;
  };
  for (const { path, sent } of tries) {
    const answer = await attempted(path, sent);
    if (answer && isSeen(answer))
      return violate(`${sent?.method ?? 'GET'} ${path} gets ${answer.status}`, answer.text);
  }
  for (const path of lists) {
    const answer = await attempted(path);
    if (answer?.text.includes(id)) return violate(`finds ${id} in ${path}`, answer.text);
  }
  return true;
}
