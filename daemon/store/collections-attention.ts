import { UnservedPeriodRow } from '../../src/model/unserved.ts'
import { defineCollection } from './port.ts'

/** What the operator is asked to make good. */
export const unservedPeriods = defineCollection('unserved_periods', {
  schema: UnservedPeriodRow,
  key: 'id',
  indexes: [
    { name: 'open', fields: ['opened_at'], where: { field: 'open', equals: true } },
    { name: 'running', fields: ['provider_id'], where: { field: 'open', equals: true } },
  ],
})
