import { z } from 'zod'
import { attentionKinds } from '../../../src/model/words.ts'
import { defineCollection, stored } from '../../store/port.ts'

const ToldItem = z.strictObject({
  id: z.string(),
  kind: z.enum(attentionKinds),
  grave: z.boolean(),
  sentence: z.string(),
  fix: z.string(),
})
export type ToldItem = z.infer<typeof ToldItem>

const AlarmMessage = z.strictObject({
  /** The same in every try, so that receivers recognise a repeated message. */
  event_id: z.string(),
  created_at: z.int(),
  raised: z.array(ToldItem),
  over: z.array(ToldItem),
})
export type AlarmMessage = z.infer<typeof AlarmMessage>

/** What one target was told. The key is a hash of the target. Times are wall time. */
export const alarmRows = defineCollection('alarm_targets', {
  schema: z.strictObject({
    ...stored,
    /** Open problems of the messages that arrived. */
    told: z.array(ToldItem),
    /** A message that is being sent. It is stored first, so that a crash repeats it instead of making a new one. */
    pending: AlarmMessage.nullable(),
    /** Failed tries since the last message that arrived. */
    failures: z.int(),
    failing_since: z.int().nullable(),
    error: z.string().nullable(),
    next_try_at: z.int(),
    sent_at: z.int().nullable(),
  }),
  indexes: [{ name: 'all', fields: ['id'] }],
})
export type AlarmRow = z.infer<typeof alarmRows.schema>

export const attentionCollections = [alarmRows]
