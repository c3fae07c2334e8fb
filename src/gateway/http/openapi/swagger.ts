import { type INestApplication } from '@nestjs/common';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ENDPOINTS } from '../../../contracts/endpoints.js';
import { productVersion } from '../../../platform/process/product-version.js';
import { unroutable } from '../http-error.js';
import { withSharedErrors } from './errors.js';

/**
 * Gives the optional fields of every form an empty example. Swagger UI fills each field
 * of a form with a made-up value, such as `file_url=string`, and sends it: an untouched
 * form would be rejected. Swagger UI omits empty fields.
 */
function emptyOptionalFormFields(document: OpenAPIObject): OpenAPIObject {
  const schemas = document.components?.schemas ?? {};
  for (const name of formSchemas(document)) {
    const schema = schemas[name];
    if (schema && !('$ref' in schema)) emptyOptional(schema);
  }
  return document;
}

function emptyOptional({
  properties = {},
  required = [],
}: Exclude<
  NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string],
  { $ref: string }
>): void {
  for (const [name, field] of Object.entries(properties)) {
    if (
      '$ref' in field ||
      required.includes(name) ||
      field.default !== undefined ||
      field.format === 'binary'
    )
      continue;
    field.example ??= field.type === 'array' ? [] : '';
  }
}

/** Names of the schemas that are forms. */
function formSchemas({ paths }: OpenAPIObject): ReadonlySet<string> {
  const operations = Object.values(paths).flatMap(({ post }) => post ?? []);
  const references = operations.flatMap(({ requestBody }) => {
    if (!requestBody || '$ref' in requestBody) return [];
    const schema = requestBody.content['multipart/form-data']?.schema;
    return schema && '$ref' in schema ? [schema.$ref] : [];
  });
  return new Set(references.map(reference => reference.split('/').at(-1) ?? ''));
}

/** In the order in which a new user needs them. */
const SECTIONS = {
  audio: 'Speech to text, text to speech',
  text: 'Chat, completions, embeddings',
  realtime: 'Tokens for live sessions; the sessions themselves are WebSockets at /v1/realtime',
  files: 'Inputs and results of batches',
  batches: 'Many requests in the background',
  models: 'Available models',
  requests: 'The state of a request, its cancellation, and stored answers',
  admin: 'Queue, workers and models of the server',
  health: 'Probes and metrics',
  console: 'The pages of the console, and its sign-in',
} as const;

/** The OpenAPI document of the whole gateway. */
function openApiDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Switchyard')
    .setDescription(
      'OpenAI-compatible inference gateway: every request below can be run from this page.',
    )
    .setVersion(productVersion())
    .addBearerAuth({
      type: 'http',
      description: 'An API key, where the server asks for one.',
    })
    .addSecurityRequirements('bearer');
  for (const [name, description] of Object.entries(SECTIONS)) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    autoTagControllers: false,
  });
  return withSharedErrors(emptyOptionalFormFields(withSummaries(document)));
}

/**
 * Of routes that do not describe themselves otherwise, from the endpoint table: pages and
 * manual say the same.
 */
function withSummaries(document: OpenAPIObject): OpenAPIObject {
  for (const { method, path, summary, area } of ENDPOINTS) {
    const operation = document.paths[path]?.[METHODS[method]];
    if (!operation) continue;
    operation.summary ||= summary;
    operation.tags = [area];
  }
  return document;
}

const METHODS = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;

interface React {
  useMemo<T>(make: () => T, on: readonly unknown[]): T;
  createElement(type: unknown, props: object | null, ...children: unknown[]): unknown;
}

/**
 * A plugin of Swagger UI: audio of an answer can be played. Its own player asks the route
 * again, with GET. The page gets this function as text, so it uses nothing from here.
 */
const audioPlayer = () => ({
  // Pairs, as a function that is a property gets its name by a helper of the bundle.
  wrapComponents: Object.fromEntries([
    [
      'responseBody',
      (original: unknown, { React }: { readonly React: React }) =>
        (props: { readonly contentType?: string; readonly content: Blob }) => {
          const { contentType = '', content } = props;
          const src = React.useMemo(
            () =>
              /^audio\/(?!pcm)/.test(contentType) && content instanceof Blob
                ? URL.createObjectURL(content)
                : undefined,
            [content],
          );
          const answer = React.createElement(original, props);
          const player = src && React.createElement('audio', { controls: true, src });
          return React.createElement('div', null, player, answer);
        },
    ],
  ]),
});

const DOCS = /^\/docs(?=[/?]|$)[^?]*/;

/** Its own scripts and requests; it writes styles and images into its page. Nowhere in another. */
const DOCS_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    'media-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * Swagger UI at `/docs`, the document at `/docs-json`. Built on first use: starting up
 * does not wait for it.
 */
export function serveDocs(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, reply, done) => {
    const path = DOCS.exec(request.url)?.[0];
    if (path === undefined) return done();
    void reply.headers(DOCS_HEADERS);
    // Those who serve files refuse a way out of their folder with an error of their own.
    if (/%2e|%2f|%5c|\.\./i.test(path)) throw unroutable(request);
    done();
  });
  SwaggerModule.setup('docs', app, () => openApiDocument(app), {
    jsonDocumentUrl: 'docs-json',
    customSiteTitle: 'Switchyard',
    swaggerOptions: {
      tryItOutEnabled: true,
      displayRequestDuration: true,
      defaultModelsExpandDepth: 0,
      filter: true,
      persistAuthorization: true,
      plugins: [audioPlayer],
    },
  });
}
