import { type Fields } from '@switchyard/engine-api/is-object.js';
import { jsonSchema } from '@switchyard/engine-api/rules.js';
import { DEVICE, DEVICE_FIELDS } from '../../platform/config/device-fields.js';
import { MODEL, MODEL_FIELDS } from '../../platform/config/model-fields.js';
import { type SettingDefinition } from '../../platform/config/setting-definition.js';
import {
  environmentName,
  SETTING_PATHS,
  settingDefinition,
} from '../../platform/config/settings.js';
import { CATALOGUE_ENTRY } from '../models/catalogue/catalogue.js';

/** The version that YAML language servers of editors support best. */
const DRAFT = 'http://json-schema.org/draft-07/schema#';

/**
 * Of `config/switchyard.yaml`. Stricter than its reader in one thing: numbers in quotes
 * are text here.
 */
function settingsSchema(): Fields {
  const sections: Record<string, Record<string, Fields>> = {};
  for (const path of SETTING_PATHS) {
    const [section, name] = path.split('.') as [string, string];
    (sections[section] ??= {})[name] = settingSchema(path, settingDefinition(path));
  }
  return {
    $schema: DRAFT,
    title: 'Settings of Switchyard',
    // A section or a file whose every line is commented out reads as null.
    type: ['object', 'null'],
    properties: Object.fromEntries(
      Object.entries(sections).map(([section, properties]) => [
        section,
        { type: ['object', 'null'], properties, additionalProperties: false },
      ]),
    ),
    additionalProperties: false,
  };
}

function settingSchema(
  path: string,
  { help, allowed, rule, default: value }: SettingDefinition,
): Fields {
  const description = `${help} Allowed: ${allowed}. Variable: ${environmentName(path)}.`;
  const schema = jsonSchema(rule);
  // As the reader: a bare `true` stands for the word.
  const words = (schema.enum as string[] | undefined)?.flatMap(word =>
    word === 'true' || word === 'false' ? [word, word === 'true'] : [word],
  );
  return { description, ...schema, ...(words && { enum: words }), default: value };
}

/**
 * Of `config/models.yaml`. What depends on kind and engine is left to
 * `switchyard models check`.
 */
function modelsSchema(): Fields {
  const models = listSchema(
    'Models that Switchyard serves',
    'models',
    described(jsonSchema(MODEL), MODEL_FIELDS),
  );
  const devices = { type: 'array', items: described(jsonSchema(DEVICE), DEVICE_FIELDS) };
  return { ...models, properties: { ...(models.properties as Fields), devices } };
}

/** Adds the help of its fields to an object. */
function described(
  { properties, ...schema }: Fields,
  fields: Readonly<
    Record<string, Readonly<Record<'help' | 'allowed', string>> & { default?: string }>
  >,
): Fields {
  const entries = Object.entries(fields).map(([name, { help, allowed, default: unset }]) => {
    const description = `${help} Allowed: ${allowed}.${unset === undefined ? '' : ` Left out: ${unset}.`}`;
    return [name, { ...(properties as Record<string, Fields>)[name], description }];
  });
  return { type: 'object', properties: Object.fromEntries(entries) as Fields, ...schema };
}

/** Schema of a file with one list. */
const listSchema = (title: string, list: string, items: Fields): Fields => ({
  $schema: DRAFT,
  title,
  type: 'object',
  properties: { [list]: { type: 'array', items } },
  required: [list],
  additionalProperties: false,
});

/**
 * Of the files below `config/`, by name. The committed ones in `config/schema` are
 * made of these.
 */
export const FILE_SCHEMAS: Readonly<Record<string, () => Fields>> = {
  switchyard: settingsSchema,
  models: modelsSchema,
  catalogue: () => listSchema('Catalogue of models', 'catalogue', jsonSchema(CATALOGUE_ENTRY)),
};
