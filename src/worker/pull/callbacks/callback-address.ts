import { type JobCallback } from '../../../contracts/queue-jobs/queue-job.js';
import { DomainError } from '../../../core/shared/domain-error.js';

/** A file of the folder of secrets, never a path out of it. */
const SECRET_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/** Before any work is done for it. Where it leads is checked when it is sent. @throws DomainError `webhook_refused` */
export function assertCallback({ url, secretName }: JobCallback): void {
  const protocol = URL.parse(url)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:') throw refused('its URL must be http or https', 'callback.url');
  if (secretName !== undefined && !SECRET_NAME.test(secretName)) {
    throw refused('`secretName` must be the name of a file', 'callback.secretName');
  }
}

const refused = (why: string, param: string): DomainError =>
  new DomainError('webhook_refused', `The callback is refused: ${why}.`, { param });
