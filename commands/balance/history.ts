import { listCommand } from '../../src/cli/nouns/lists.ts'
import { money, time, word } from '../../src/nouns/columns.ts'
import { listing } from '../../src/nouns/noun.ts'

const history = listing({
  list: 'getBalanceHistory',
  rows: 'entries',
  none: 'nothing has moved yet',
  columns: [
    time('WHEN', ({ created_at }) => created_at),
    word('TYPE', ({ type }) => type),
    money('AMOUNT', ({ amount }) => amount),
    money('AFTER', ({ balance_after }) => balance_after),
    word('FOR', ({ reference }) => reference.id, { drop: 1 }),
    word('ID', ({ id }) => id, { drop: 2 }),
  ],
})

export const command = listCommand(history, {
  name: 'balance history',
  summary: 'list balance transactions, newest first',
  examples: ['souk balance history', 'souk balance history --limit 5 --json'],
})
