import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { createGateway } from '../../../src/gateway/bootstrap.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';

const HOOKS = ['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown'] as const;

/** What Nest knows of a module. */
interface ModuleRef {
  readonly metatype: { readonly name: string };
  readonly providers: Map<unknown, { readonly instance?: unknown; readonly isAlias?: boolean }>;
  readonly controllers: ModuleRef['providers'];
}

let folder: string;
let app: NestFastifyApplication;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchyard-order-'));
  const settings = settingsFrom({
    'data.dir': folder,
    'batch.embedded': false,
    'server.docs': false,
  });
  app = await createGateway({ settings, models: [] });
  app.useLogger(false);
  await app.init();
});

afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

it('a gateway ends in the order that the README of lifecycle shows', () => {
  // Protected: the list that Nest's own hooks go through.
  const modules = (
    app as unknown as { getModulesToTriggerHooksOn(): ModuleRef[] }
  ).getModulesToTriggerHooksOn();
  const order = HOOKS.map(hook =>
    [...modules].reverse().flatMap(({ metatype, providers, controllers }) => {
      const those = [...providers.values(), ...controllers.values()].flatMap(
        ({ instance, isAlias }) =>
          typeof instance === 'object' && instance && !isAlias && hook in instance
            ? instance.constructor.name
            : [],
      );
      const names = [...new Set(those)].sort().join(', ');
      return names === '' ? [] : `${metatype.name}: ${names}`;
    }),
  );
  const readme = readFileSync('src/gateway/lifecycle/README.md', 'utf8');
  const shown = HOOKS.map(hook => {
    const [, part = ''] = readme.split(`\`${hook}\`: `);
    return [...part.split(/^\d\./m)[0]!.matchAll(/^ {3}- (.+)$/gm)].map(([, line]) => line);
  });
  expect(order).toEqual(shown);
});
