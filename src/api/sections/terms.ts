import { z } from 'zod'
import { idOf } from '../../core/codecs.ts'
import { MAX_NAME_CHARS } from '../../core/limits.ts'
import { Time } from '../endpoint/common.ts'
import { endpointsWith, json, jsonBody, key, open } from '../endpoint/define.ts'

const endpoint = endpointsWith({ origin: 'ours', section: 'Account' })

export const termsApi = {
  getTerms: endpoint({
    method: 'GET',
    path: '/v1/terms',
    access: open,
    reply: json(
      z.strictObject({
        version: z.string(),
        required: z.boolean().meta({ description: 'whether creating or editing listings requires accepted terms' }),
        url: z.string(),
        text: z.string(),
      }),
    ),
    errors: [],
    summary: 'terms text and version',
  }),

  acceptTerms: endpoint({
    method: 'POST',
    path: '/v1/terms/accept',
    access: key(),
    body: jsonBody(z.strictObject({ version: z.string().max(MAX_NAME_CHARS) })),
    reply: json(z.strictObject({ participant_id: idOf('participant'), version: z.string(), accepted_at: Time })),
    errors: ['invalid_request'],
    summary: 'accept a version of the terms',
  }),
}
