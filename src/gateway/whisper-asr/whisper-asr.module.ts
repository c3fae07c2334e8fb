import { Module } from '@nestjs/common';
import { AudioModule } from '../audio/audio.module.js';
import { ModelsModule } from '../models/models.module.js';
import { WhisperAsrController } from './whisper-asr.controller.js';

/** The routes of whisper-asr-webservice, served by the transcriptions of `/v1/audio`. */
@Module({
  imports: [AudioModule, ModelsModule],
  controllers: [WhisperAsrController],
})
export class WhisperAsrModule {}
