/** The part of nodemailer that alarms use. The package's own types are wider. */
declare module 'nodemailer' {
  type Mail = { from: string; to: string; subject: string; text: string; messageId: string }
  export function createTransport(options: object): { sendMail(mail: Mail): Promise<unknown> }
}
