import { allowedBy, matching, objectOf, optional, TEXT } from '@switchyard/engine-api/rules.js';
import { type z } from 'zod';

/** Text of a size, such as `12GiB`. */
export const SIZE = matching(/^\d+(\.\d+)? ?[KMGT]i?B$/, 'a size such as 12GiB or 700MiB');

export const DEVICE_NAME = matching(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  'letters, digits and . _ -, at most 64',
);

/** A field of an entry of `config/models.yaml`. */
export interface EntryField {
  readonly rule: z.ZodType;
  /** What the field does and when to set it: its row in docs/reference/models-yaml.md. */
  readonly help: string;
  /** What it allows, as a noun phrase. */
  readonly allowed: string;
  /** The default, in words; required fields have none. */
  readonly default?: string;
}

export const field = (rule: z.ZodType, help: string, unset?: string): EntryField => ({
  rule: unset === undefined ? rule : optional(rule),
  help,
  allowed: allowedBy(rule),
  default: unset,
});

/** The fields of one entry of `devices:` in `config/models.yaml`. */
export const DEVICE_FIELDS: Readonly<Record<'id' | 'memory' | 'reserve' | 'as', EntryField>> = {
  id: field(DEVICE_NAME, 'What models name in `device`; label of its metrics.'),
  memory: field(
    SIZE,
    'Memory that its models share. Declare it for a GPU.',
    "the machine's memory",
  ),
  reserve: field(SIZE, 'Of that, left to other programs.', 'none'),
  as: field(
    TEXT,
    'What engines call it, such as `cuda:1`: their option `device`. Needed where a model names several devices.',
    "as the model's options say",
  ),
};

/** One entry of `devices:`. */
export const DEVICE = objectOf(
  Object.fromEntries(Object.entries(DEVICE_FIELDS).map(([name, { rule }]) => [name, rule])),
  'a device with id, memory, …',
);
