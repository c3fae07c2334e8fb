import { createRequire } from 'node:module';
import { join } from 'node:path';
import { openApiDocument } from './openapi-document.js';

interface OpenApiTypescript {
  readonly default: (document: object, options: object) => Promise<unknown[]>;
  readonly astToString: (nodes: unknown[]) => string;
}

const HEAD =
  '// Written by `npm run console:client` from the OpenAPI document of the gateway. Do not edit.\n';

/** The types of every route, as the console's client needs them. */
export async function consoleClient(): Promise<string> {
  const { default: generate, astToString } = generator();
  return HEAD + astToString(await generate(await openApiDocument(), { alphabetize: true }));
}

/** From the packages of the console, which the product itself does not need. */
function generator(): OpenApiTypescript {
  const require = createRequire(join(process.cwd(), 'console/package.json'));
  return require('openapi-typescript') as OpenApiTypescript;
}
