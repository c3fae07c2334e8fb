import { Module } from '@nestjs/common';
import { Spool } from '../../platform/storage/upload-spool.js';
import { InferenceModule } from '../inference/inference.module.js';
import { ModelsModule } from '../models/models.module.js';
import { WrittenFormModule } from '../written-form/written-form.module.js';
import { TranslationsController, TranscriptionsController } from './audio.controllers.js';
import { SpeechController } from './speech.controller.js';
import { TranscriptionService } from './transcription.service.js';
import { VoicesController } from './voices.controller.js';

/** `/v1/audio`: transcription, translation and speech. */
@Module({
  imports: [InferenceModule, ModelsModule, WrittenFormModule],
  controllers: [
    TranscriptionsController,
    TranslationsController,
    SpeechController,
    VoicesController,
  ],
  providers: [Spool, TranscriptionService],
  exports: [TranscriptionService],
})
export class AudioModule {}
