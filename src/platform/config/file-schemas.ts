import { type JsonSchema, objectSchema, type ValueRule } from '../../core/shared/schema.js';
import { MODEL_FIELDS } from './model-fields.js';
import { type SettingDefinition } from './setting-definition.js';
import { environmentName, SETTING_PATHS, settingDefinition } from './settings.js';

/** YAML language servers of editors know this version best. */
const DRAFT = 'http://json-schema.org/draft-07/schema#';

/** Of `config/switchyard.yaml`. Stricter than its reader in one thing: numbers in quotes are text here. */
export function settingsSchema(): JsonSchema {
  const sections: Record<string, Record<string, JsonSchema>> = {};
  for (const path of SETTING_PATHS) {
    const [section, name] = path.split('.') as [string, string];
    (sections[section] ??= {})[name] = settingSchema(path, settingDefinition(path));
  }
  return {
    ...{ $schema: DRAFT, title: 'Settings of Switchyard' },
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

const TRUTH: Readonly<Record<string, boolean>> = { true: true, false: false };

function settingSchema(
  path: string,
  { help, allowed, schema, choices, default: value }: SettingDefinition,
): JsonSchema {
  const description = `${help} Allowed: ${allowed}. Variable: ${environmentName(path)}.`;
  // As the reader: a bare `true` stands for the word.
  const words = choices?.flatMap(word => (word in TRUTH ? [word, TRUTH[word]] : [word]));
  return { description, ...schema, ...(words && { enum: words }), default: value };
}

/** Of `config/models.yaml`. What depends on kind and engine is left to `switchyard models check`. */
export const modelsSchema = (): JsonSchema =>
  listSchema('Models that Switchyard serves', 'models', objectSchema(MODEL_FIELDS, describeField));

function describeField(name: string, { allowed }: ValueRule): string {
  const { help, default: unset } = MODEL_FIELDS[name as keyof typeof MODEL_FIELDS];
  return `${help} Allowed: ${allowed}.${unset === undefined ? '' : ` Left out: ${unset}.`}`;
}

/** A file with one list. */
export const listSchema = (title: string, list: string, items: JsonSchema): JsonSchema => ({
  ...{ $schema: DRAFT, title, type: 'object' },
  properties: { [list]: { type: 'array', items } },
  ...{ required: [list], additionalProperties: false },
});
