import { WatchCallerRow, WatchDayRow } from '../../src/model/watch.ts'
import { defineCollection } from './port.ts'

/* What the nightly statistics are made of. */

export const watchDays = defineCollection('watch_days', {
  schema: WatchDayRow,
  key: 'id',
  indexes: [
    { name: 'open', fields: ['id'], where: { field: 'closed', equals: false } },
    { name: 'closed', fields: ['id'], order: 'desc', where: { field: 'closed', equals: true } },
  ],
})

export const watchCallers = defineCollection('watch_callers', {
  schema: WatchCallerRow,
  key: 'id',
  indexes: [{ name: 'date', fields: ['date'] }],
})
