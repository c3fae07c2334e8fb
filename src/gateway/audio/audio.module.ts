import { Module } from '@nestjs/common';
import { StorageModule } from '../../platform/storage/spool.js';
import { InferenceModule } from '../inference/inference.module.js';
import { ModelsModule } from '../models/models.module.js';
import { WrittenFormModule } from '../written-form/written-form.module.js';
import { SpeechService } from './speech.service.js';
import { TranscriptionService } from './transcription.service.js';
import { SpeechController, TranscriptionsController, TranslationsController } from './audio.controllers.js';
import { UploadReader } from './upload-reader.js';
import { VoicesController } from './voices.controller.js';
import { WhisperAsrController } from './whisper-asr/whisper-asr.controller.js';
import { WhisperAsrService } from './whisper-asr/whisper-asr.service.js';

/** `/v1/audio`: transcription, translation and speech; the routes of whisper-asr-webservice. */
@Module({
  imports: [InferenceModule, ModelsModule, StorageModule, WrittenFormModule],
  controllers: [
    TranscriptionsController,
    TranslationsController,
    SpeechController,
    VoicesController,
    WhisperAsrController,
  ],
  providers: [SpeechService, TranscriptionService, UploadReader, WhisperAsrService],
})
export class AudioModule {}
