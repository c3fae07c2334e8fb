import { Inject, Injectable } from '@nestjs/common';
import { FieldReader } from '../../contracts/realtime/field-reader.js';
import {
  defaultSession,
  readOlderSession,
  readSession,
  type SessionConfig,
} from '../../contracts/realtime/session-config.js';
import { Authenticator } from '../../platform/auth/authenticator.js';
import { type Principal } from '../../platform/auth/principal.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { ModelCatalog } from '../api/model-catalog.js';
import { demandTranscribing } from './session/session-settings.js';

/** OpenAI's range and default, in seconds. */
const TTL = { min: 10, max: 7200, normal: 600 } as const;
/** Settings kept for secrets that were not used yet; the oldest goes first. */
const MOST_PREPARED = 10_000;

export interface ClientSecret {
  readonly value: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly config: SessionConfig;
}

/** Short-lived tokens for browsers, each with the settings its sessions begin with. */
@Injectable()
export class ClientSecrets {
  readonly #prepared = new Map<string, { readonly config: SessionConfig; readonly untilMs: number }>();

  constructor(
    private readonly authenticator: Authenticator,
    private readonly catalog: ModelCatalog,
    private readonly clock: ProcessClock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** `POST /v1/realtime/client_secrets`. @throws DomainError naming the field. */
  create(body: unknown, principal: Principal): ClientSecret {
    const fields = new FieldReader(body ?? {}, '');
    const ttlS = lifetime(fields.object('expires_after'));
    const session = fields.raw('session');
    fields.done();
    const base = defaultSession(this.settings.realtime.transcriptionModel);
    return this.#mint(session === undefined ? base : readSession(session, base), ttlS, principal);
  }

  /** `POST /v1/realtime/transcription_sessions` of the older dialect. @throws DomainError naming the field. */
  createOlder(body: unknown, principal: Principal): ClientSecret {
    const fields = new FieldReader(body ?? {}, '');
    const ttlS = lifetime(fields.object('client_secret')?.object('expires_at'));
    const base = defaultSession(this.settings.realtime.transcriptionModel);
    return this.#mint(readOlderSession(body ?? {}, base, ''), ttlS, principal);
  }

  /** The settings that come with a token; undefined for tokens that have none, or had. */
  sessionOf(token: string): SessionConfig | undefined {
    const prepared = this.#prepared.get(token);
    return prepared && this.clock.nowMs() < prepared.untilMs ? prepared.config : undefined;
  }

  #mint(config: SessionConfig, ttlS: number, principal: Principal): ClientSecret {
    demandTranscribing(config, this.catalog, 'session.audio.input.transcription');
    const { token, expiresAt } = this.authenticator.mint(principal, ['realtime'], ttlS);
    this.#prepared.set(token, { config, untilMs: this.clock.nowMs() + ttlS * 1000 });
    const [oldest] = this.#prepared.keys();
    if (this.#prepared.size > MOST_PREPARED && oldest !== undefined) this.#prepared.delete(oldest);
    return { value: token, expiresAt, config };
  }
}

function lifetime(fields: FieldReader | undefined): number {
  fields?.oneOf('anchor', ['created_at']);
  const seconds = fields?.integer('seconds', TTL.min, TTL.max) ?? TTL.normal;
  fields?.done();
  return seconds;
}
