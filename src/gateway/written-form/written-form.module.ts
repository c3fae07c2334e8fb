import { Module } from '@nestjs/common';
import { EnglishNormalizer } from '@switchyard/itn-en/english-normalizer.js';
import { NormalizerRegistry, WrittenForm } from './written-form.js';

/** Another language is one more adapter in this list. */
const NORMALIZERS = [new EnglishNormalizer()];

@Module({
  providers: [
    {
      provide: NormalizerRegistry,
      useFactory: () => new NormalizerRegistry(NORMALIZERS),
    },
    WrittenForm,
  ],
  exports: [WrittenForm],
})
export class WrittenFormModule {}
