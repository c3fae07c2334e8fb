import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { type ClassConstructor } from 'class-transformer';
import { parseStrictDto } from '../http/dto-validation.js';
import { bodyFields } from '../http/json-body.js';

/** Admin input is strict: ignoring a misspelt filter would cancel more requests than intended. */
@Injectable()
export class AdminInputPipe implements PipeTransform {
  /** Bodies and queries become their DTOs; a body may be left out. Parts of the path pass. */
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type === 'param' || metatype === undefined) return value;
    return parseStrictDto(metatype as ClassConstructor<object>, bodyFields(value ?? {}));
  }
}
