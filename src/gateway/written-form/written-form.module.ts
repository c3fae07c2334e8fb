import { Module } from '@nestjs/common';
import { englishNormalizer } from '@switchyard/itn-en/english-normalizer.js';
import { WrittenForm } from './written-form.js';

/** Another language is one more adapter in this list. */
const NORMALIZERS = [englishNormalizer];

@Module({
  providers: [{ provide: WrittenForm, useFactory: () => new WrittenForm(NORMALIZERS) }],
  exports: [WrittenForm],
})
export class WrittenFormModule {}
