import { Injectable } from '@nestjs/common';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { invalidField, readObject } from '@switchyard/engine-api/field-problems.js';
import { optional } from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import {
  defaultSession,
  readOlderSession,
  readSession,
  type SessionConfig,
} from '../../contracts/realtime/session-config.js';
import { CLIENT_SECRET_FIELDS, objectWith } from '../../contracts/realtime/session-fields.js';
import { type Principal } from '../../platform/auth/principal.js';
import { ShortLivedTokens } from '../../platform/auth/short-lived-tokens.js';
import { Settings } from '../../platform/config/settings.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { resolveSession } from './session/session-core.js';

/** OpenAI's default. */
const NORMAL_TTL_S = 600;
/** The token travels in one header, of which servers take 8 to 16 KiB in all. */
const LONGEST_SETTINGS = 3072;

const CLIENT_SECRET = objectWith(CLIENT_SECRET_FIELDS);

/** In a body of `POST /v1/realtime/transcription_sessions`, where it is a session's field. */
const OLDER_CLIENT_SECRET = z.looseObject(
  {
    client_secret: optional(
      z.looseObject({ expires_at: CLIENT_SECRET_FIELDS.expires_after.schema }, 'must be an object'),
    ),
  },
  'must be an object',
);

/**
 * Short-lived tokens for browsers. Each carries the settings its sessions begin with, so
 * that any gateway with the same `auth.token_secret_file` knows them.
 */
@Injectable()
export class ClientSecrets {
  constructor(
    private readonly tokens: ShortLivedTokens,
    private readonly catalog: ModelCatalog,
    private readonly settings: Settings,
  ) {}

  /** `POST /v1/realtime/client_secrets`. @throws DomainError naming the field. */
  create(body: unknown, principal: Principal) {
    const { expires_after: lifetime, session } = readObject(CLIENT_SECRET, body ?? {});
    return this.#mint(principal, lifetime?.seconds, (base, ignored) =>
      session === undefined ? base : readSession(session, base, ignored),
    );
  }

  /**
   * `POST /v1/realtime/transcription_sessions` of the older dialect. @throws DomainError
   * naming the field.
   */
  createOlder(body: unknown, principal: Principal) {
    const { client_secret: secret } = readObject(OLDER_CLIENT_SECRET, body ?? {});
    return this.#mint(principal, secret?.expires_at?.seconds, (base, ignored) =>
      readOlderSession(body ?? {}, base, ignored, ''),
    );
  }

  /**
   * The settings that a token carries; undefined for keys, and for tokens that are not
   * ours or have expired.
   */
  sessionOf(token: string): SessionConfig | undefined {
    const content = this.tokens.contentOf(token);
    // Signed by us: it is what `#mint` wrote.
    return content === undefined ? undefined : (parseBoundedJson(content) as SessionConfig);
  }

  #mint(
    principal: Principal,
    ttlS: number | undefined,
    read: (base: SessionConfig, ignored: IgnoredFields) => SessionConfig,
  ) {
    const { realtime, compat } = this.settings;
    const ignored = new IgnoredFields(compat.strict);
    const config = resolveSession(read(defaultSession(realtime.transcriptionModel), ignored), {
      catalog: this.catalog.usableBy(principal),
      ignored,
      path: 'session.audio.input.transcription',
    });
    const content = writeJson(config);
    if (Buffer.byteLength(content) > LONGEST_SETTINGS)
      throw invalidField(
        'session',
        `\`session\` must fit into ${LONGEST_SETTINGS} bytes of a token.`,
      );
    const { token, expiresAt } = this.tokens.mint({
      principal,
      scopes: ['realtime'],
      ttlS: ttlS ?? NORMAL_TTL_S,
      content,
    });
    return { value: token, expiresAt, config, ignored: ignored.paths };
  }
}
