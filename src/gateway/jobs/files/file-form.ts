import { type MultipartFile } from '@fastify/multipart';
import { missingField } from '@switchyard/engine-api/field-problems.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import {
  demandForm,
  demandPart,
  fileBytes,
  FormFields,
  formParts,
  type FormSource,
  LONGEST_TEXT,
} from '../../http/multipart-form.js';
import { type FileWriter, type WrittenBytes } from './file-writer.js';

/**
 * Reads a form with one file; fields may precede or follow it.
 * @throws DomainError; then the file is discarded
 */
export async function readFileForm<T extends WrittenBytes, R>(
  source: FormSource,
  writer: FileWriter,
  rules: {
    /** Name of the one file part. */
    readonly part: string;
    readonly maxBytes: number;
    /**
     * Stores the file while it is received; `before` has the preceding fields. Resolves
     * when the bytes are durable.
     */
    take(bytes: AsyncIterable<Buffer>, before: Fields, part: MultipartFile): Promise<T>;
  },
  finish: (taken: T, fields: Fields) => Promise<R>,
): Promise<R> {
  demandForm(source, rules.maxBytes, LONGEST_TEXT, `the bytes as \`${rules.part}\``);
  const form = new FormFields();
  let taken: T | undefined;
  try {
    for await (const part of formParts(source, LONGEST_TEXT)) {
      if (part.type === 'field') form.add(part);
      else if (taken)
        throw new DomainError('too_many_files', 'Send one file per request.', {
          param: rules.part,
        });
      else {
        demandPart(part.fieldname, rules.part, 'file');
        taken = await rules.take(fileBytes(part), form.values, part);
      }
    }
    if (!taken) throw missingField(rules.part, ': it must be a part with a filename');
    return await finish(taken, form.values);
  } catch (error) {
    // After an outage a row may reference the bytes: garbage collection decides.
    if (taken && error instanceof DomainError) await writer.forget(taken);
    throw error;
  }
}
