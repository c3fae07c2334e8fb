import { Module } from '@nestjs/common';
import { englishNormalizer } from '@switchyard/itn-en/english-normalizer.js';
import { NormalizerRegistry, WrittenForm } from './written-form.js';

/** Another language is one more adapter in this list. */
const NORMALIZERS = [englishNormalizer];

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
