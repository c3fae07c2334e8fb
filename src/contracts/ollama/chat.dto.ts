import { ApiSchema } from '@nestjs/swagger';
import {
  ANY_TEXT,
  defaulted,
  filled,
  OBJECT,
  objectsUpTo,
  optional,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import { listOfObjects } from '../openai/field-types.js';
import { Field, RequiredField } from '../openai/field.decorators.js';
import { OllamaTextFields, IMAGES } from './text-fields.dto.js';

const MESSAGE = z.object(
  {
    role: filled(100),
    content: defaulted(ANY_TEXT, ''),
    thinking: optional(ANY_TEXT),
    images: IMAGES,
    tool_calls: defaulted(
      objectsUpTo(
        1024,
        z.object({
          function: z.object({ name: filled(), arguments: defaulted(OBJECT, {}) }),
        }),
      ),
      [],
    ),
    tool_name: optional(ANY_TEXT),
    tool_call_id: optional(ANY_TEXT),
  },
  'must be an object',
);

export type OllamaMessage = z.output<typeof MESSAGE>;

const MESSAGES = objectsUpTo(10_000, MESSAGE);

@ApiSchema({ name: 'OllamaChatDto' })
export class OllamaChatRequest extends OllamaTextFields {
  @RequiredField(listOfObjects('must be a list of messages', MESSAGES), {
    example: [{ role: 'user', content: 'What does a switchyard do?' }],
    description: 'Each with `role` and `content`; `images`, `tool_calls`, `thinking`, `tool_name`.',
  })
  messages!: readonly OllamaMessage[];

  @Field(listOfObjects('must be a list of tools'), {
    description: 'Needs a model with the capability `tools`.',
  })
  tools?: readonly unknown[];
}
