import { bytes, defineEndpoint, html, open } from '../endpoint/define.ts'

export const docsApi = {
  getDocs: defineEndpoint({
    method: 'GET',
    path: '/docs',
    access: open,
    origin: 'ours',
    section: 'Pages',
    reply: bytes('text/html; charset=utf-8'),
    errors: [],
    summary: 'API reference page, served locally',
  }),

  getHome: defineEndpoint({
    method: 'GET',
    path: '/',
    access: open,
    origin: 'ours',
    section: 'Pages',
    reply: html,
    errors: [],
    summary: 'small home page',
  }),
}
