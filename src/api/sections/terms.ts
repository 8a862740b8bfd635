import { z } from 'zod'
import { idOf, Time } from '../../core/codecs.ts'
import { MAX_NAME_CHARS } from '../../core/limits.ts'
import { accountEndpoint, json, jsonBody, open } from '../endpoint/define.ts'

export const termsApi = {
  getTerms: accountEndpoint({
    path: '/v1/terms',
    access: open,
    reply: json({
      version: z.string(),
      required: z.boolean().meta({ description: 'whether creating or editing listings requires accepted terms' }),
      url: z.string(),
      text: z.string(),
    }),
    summary: 'terms text and version',
  }),

  acceptTerms: accountEndpoint({
    path: '/v1/terms/accept',
    body: jsonBody({ version: z.string().max(MAX_NAME_CHARS) }),
    reply: json({ participant_id: idOf('participant'), version: z.string(), accepted_at: Time }),
    summary: 'accept a version of the terms',
  }),
}
