import { bytes, defineEndpoint, open } from './endpoint.ts'

export const getDocs = defineEndpoint({
  method: 'GET',
  path: '/docs',
  access: open,
  origin: 'ours',
  section: 'Pages',
  reply: bytes('text/html; charset=utf-8'),
  errors: [],
  summary: 'API reference page, served locally',
})
