import { z } from 'zod'
import { Micro } from '../../../src/core/codecs.ts'
import { type AnyCollection, defineCollection, stored } from '../../store/port.ts'

/** Faucet grants of a day: in total, or of a wallet or network address. */
const GrantDayRow = z.strictObject({
  /** `<day>:<bucket>`. The day is the number of UTC days since the epoch. */
  ...stored,
  day: z.int(),
  granted: Micro,
})

export const grantDays = defineCollection('grant_days', {
  schema: GrantDayRow,
  indexes: [{ name: 'day', fields: ['day'] }],
})

export const testMoneyCollections: readonly AnyCollection[] = [grantDays]
