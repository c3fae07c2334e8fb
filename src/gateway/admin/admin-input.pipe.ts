import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { type ClassConstructor } from 'class-transformer';
import { fieldsOf } from '../http/json-body.js';
import { parseStrictDto } from '../http/dto-validation.js';

/** Admin input is strict: a misspelt filter that was ignored would cancel more than was meant. */
@Injectable()
export class AdminInputPipe implements PipeTransform {
  /** Bodies and queries become their DTOs; a body may be left out. Parts of the path pass. */
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type === 'param' || metatype === undefined) return value;
    return parseStrictDto(metatype as ClassConstructor<object>, fieldsOf(value ?? {}));
  }
}
