import { Type } from 'typebox'
import { MAIL_LANGUAGES } from '../../runtime/process/mail-texts.ts'
import type { User } from '../../store/database/schema.ts'
import { Id, Instant, NameInput, Nullable, OpenEnum, PhoneNumberInput } from '../schema.ts'

export const UserBody = Type.Object({
  id: Id,
  name: Type.String(),
  email: Type.String(),
  phone_number: Type.String({ description: 'E.164.' }),
  current_workspace_id: Nullable(Id),
  created_at: Instant,
  language: Nullable(OpenEnum(MAIL_LANGUAGES, 'Of mails to the user; null: not known yet.')),
})

export const SignedInBody = Type.Object({ user: UserBody })

export const SignupInput = Type.Object({
  name: NameInput,
  email: Type.String({ format: 'email', maxLength: 254 }),
  password: Type.String({ minLength: 8, maxLength: 1024 }),
  phone_number: PhoneNumberInput('International format; stored as E.164.'),
  invitation: Type.Optional(Type.String({ maxLength: 100, description: 'The token of an invitation link.' })),
  setup_token: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'For the first user, from another machine: what the start prints. Who shows it runs the installation.',
    }),
  ),
})

export const ChangeUserInput = Type.Object({
  name: Type.Optional(NameInput),
  phone_number: Type.Optional(PhoneNumberInput('International format; stored as E.164.')),
  language: Type.Optional(
    Nullable(Type.Enum(MAIL_LANGUAGES, { description: 'Null: that of the browser that signs in next.' })),
  ),
})

export const LoginInput = Type.Object({
  email: Type.String({ maxLength: 254 }),
  password: Type.String({ maxLength: 1024 }),
})

export const userExample = {
  id: '0197f3a2-7c1e-7000-8000-000000000001',
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  phone_number: '+14155550123',
  current_workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  created_at: '2026-01-31T09:00:00.000Z',
  language: 'en',
}

/** A user as callers see it: no hash. */
export function userBody(user: User) {
  return {
    id: user.id,
    name: user.name,
    email: user.email,
    phone_number: user.phone_number,
    current_workspace_id: user.current_workspace_id,
    created_at: user.created_at.toISOString(),
    language: user.language,
  }
}
