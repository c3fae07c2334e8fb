import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../core/shared/domain-error.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { fetchTarget, resolveBySystem } from '../../../platform/http/fetch-target.js';
import { HostExceptions } from '../../../platform/http/host-exceptions.js';

/**
 * Refuses webhooks that nobody could tell from forged ones, and those that would reach into this network, while their author is
 * still listening. The sender checks again: names
 * change their minds.
 */
@Injectable()
export class WebhookAddress {
  readonly #exceptions: HostExceptions;

  constructor(@Inject(SETTINGS) private readonly settings: Settings) {
    this.#exceptions = new HostExceptions(settings.batch.webhookAllowHosts);
  }

  /** @throws DomainError `webhook_refused` */
  async check(url: string): Promise<void> {
    if (this.settings.batch.webhookSecretFile === '')
      throw refused('this server has no secret to sign webhooks with, `batch.webhook_secret_file`');
    const parsed = URL.parse(url);
    if (!parsed) throw refused('it is no URL');
    try {
      await fetchTarget(parsed, { exceptions: this.#exceptions, resolve: resolveBySystem });
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw refused(error.message.replace(/^[^:]*: (.*)\.$/, '$1'));
    }
  }
}

const refused = (why: string): DomainError =>
  new DomainError('webhook_refused', `\`webhook.url\` is refused: ${why}.`, { param: 'webhook.url' });
