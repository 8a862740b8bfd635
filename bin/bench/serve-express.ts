import express from 'express'
import { argument, serveHttp } from './serve.ts'

// What anybody would write: a plain Express server with a JSON body and a JSON answer, no payment.
const { answer } = argument<{ answer: unknown }>()
const app = express()
app.use(express.json())
app.post('/plain', (_req, res) => {
  res.json(answer)
})

await serveHttp(app)
