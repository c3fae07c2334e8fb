import { type OpenAPIObject } from '@nestjs/swagger';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
type Schema = Exclude<Schemas[string], { $ref: string }>;

/**
 * Gives the optional fields of every form an empty example. Swagger UI fills each field of a form with a made-up value, such as
 * `file_url=string`, and sends it: a form that nobody touched would be refused. Empty fields it leaves out.
 */
export function emptyOptionalFormFields(document: OpenAPIObject): OpenAPIObject {
  const schemas = document.components?.schemas ?? {};
  for (const name of formSchemas(document)) {
    const schema = schemas[name];
    if (schema && !('$ref' in schema)) emptyOptional(schema);
  }
  return document;
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

function emptyOptional({ properties = {}, required = [] }: Schema): void {
  for (const [name, field] of Object.entries(properties)) {
    if ('$ref' in field || required.includes(name) || field.default !== undefined || field.format === 'binary')
      continue;
    field.example ??= field.type === 'array' ? [] : '';
  }
}
