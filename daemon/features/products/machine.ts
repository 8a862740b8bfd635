import { productStatuses } from '../../../src/model/product.ts'
import { defineMachine } from '../../kernel/machine.ts'

/**
 * Digital products (decisions §9). A draft waits for its file; `publish` sets it, once. Whoever bought
 * a product keeps its file in every state. What is for sale goes off it with a provider that is suspended, and comes back.
 */
export const productMachine = defineMachine({
  noun: 'product',
  states: productStatuses,
  transitions: [
    { event: 'publish', from: ['draft'], to: 'active', by: ['provider'], effects: ['list'] },
    { event: 'withdraw', from: ['active'], to: 'inactive', by: ['provider'], effects: [] },
    { event: 'offer', from: ['inactive'], to: 'active', by: ['provider'], effects: [] },
    { event: 'delete', from: ['draft', 'active', 'inactive'], to: 'deleted', by: ['provider'], effects: [] },
    { event: 'suspend', from: ['active'], to: 'suspended', by: ['admin'], effects: [] },
    { event: 'reinstate', from: ['suspended'], to: 'active', by: ['admin'], effects: [] },
  ],
})
