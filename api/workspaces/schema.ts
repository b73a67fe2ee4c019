import { Type } from 'typebox'
import { NUMBER_TYPES, type NumberType } from '../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import type { Invitation } from '../../store/accounts/invitations.ts'
import type { Member, MemberWorkspace } from '../../store/workspaces/workspaces.ts'
import { Id, Instant, NameInput, Nullable } from '../schema.ts'

export const RoleName = Type.Enum(['member', 'developer', 'admin'])

/** Allowed destinations, within the operator's limits. */
const DIAL_BOUNDS = {
  dial_countries: Nullable(
    Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), {
      maxItems: 300,
      description: 'Countries that may be called (ISO 3166-1 alpha-2); null: those that the operator allows.',
    }),
  ),
  dial_number_types: Nullable(
    Type.Array(Type.Enum([...NUMBER_TYPES]), {
      maxItems: NUMBER_TYPES.length,
      description: 'Kinds of numbers that may be called; null: those that the operator allows.',
    }),
  ),
}

export const WorkspaceBody = Type.Object({
  workspace_id: Id,
  name: Type.String(),
  type: Type.String(),
  slug: Type.String(),
  role: RoleName,
  max_concurrent_calls: Nullable(Type.Integer({ description: 'Phone calls it may have at once; null: any number.' })),
  ...DIAL_BOUNDS,
  created_at: Instant,
})

export const ChangeWorkspaceInput = Type.Object({
  name: Type.Optional(NameInput),
  max_concurrent_calls: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description: 'Phone calls the workspace may have at once; null: any number.',
      }),
    ),
  ),
  dial_countries: Type.Optional(DIAL_BOUNDS.dial_countries),
  dial_number_types: Type.Optional(DIAL_BOUNDS.dial_number_types),
})

export const MemberBody = Type.Object({
  user_id: Id,
  name: Type.String(),
  email: Type.String(),
  role: RoleName,
  joined_at: Instant,
})

export const CreateWorkspaceInput = Type.Object({
  name: NameInput,
  type: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '\\S',
    default: 'team',
    description: 'Any word of yours.',
  }),
})

export const InviteInput = Type.Object({
  email: Type.String({ format: 'email', maxLength: 254 }),
  role: RoleName,
})

export const InvitationLinkInput = Type.Object({
  email: Type.Optional(
    Type.String({ format: 'email', maxLength: 254, description: 'Left out: the link takes any address.' }),
  ),
  role: RoleName,
})

export const InvitationLinkBody = Type.Object({
  link: Type.String({ description: 'Works once. Hand it to the person, to nobody else.' }),
  token: Type.String({ description: 'What the link carries: `invitation` of `POST /auth/signup`.' }),
  expires_at: Instant,
})

export const RoleInput = Type.Object({ role: RoleName })

export const InvitationBody = Type.Object({
  invitation_id: Id,
  workspace_id: Id,
  workspace_name: Type.String(),
  role: RoleName,
  email: Type.String({ description: 'Of the person who is invited; empty for a link that works for any address.' }),
  created_at: Instant,
  expires_at: Type.Union([Instant, Type.Null()], {
    description: 'When a link ends; null for an invitation that a registered user has yet to accept.',
  }),
})

const days = (what: string) =>
  Type.Optional(
    Nullable(Type.Integer({ minimum: 1, maximum: 36_500, description: `Days ${what} are kept; null: for ever.` })),
  )

export const RetentionInput = Type.Object({
  recordings_days: days('recordings'),
  transcripts_days: days('transcripts'),
  chats_days: days('chats'),
  logs_days: days('calls, with everything of them,'),
})

const Days = Nullable(Type.Integer())
export const RetentionBody = Type.Object({
  recordings_days: Days,
  transcripts_days: Days,
  chats_days: Days,
  logs_days: Days,
})

export const Detail = Type.Object({ detail: Type.String() })

export const workspaceExample = {
  workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  name: 'Analytical Engines',
  type: 'team',
  slug: 'analytical-engines',
  role: 'admin',
  max_concurrent_calls: null,
  dial_countries: null,
  dial_number_types: null,
  created_at: '2026-01-31T09:00:00.000Z',
}

/** A workspace as one of its members sees it. */
export function workspaceBody(workspace: MemberWorkspace) {
  return {
    workspace_id: workspace.id,
    name: workspace.name,
    type: workspace.type,
    slug: workspace.slug,
    role: workspace.role,
    max_concurrent_calls: workspace.max_concurrent_calls,
    dial_countries: workspace.dial_countries,
    dial_number_types: workspace.dial_number_types as NumberType[] | null,
    created_at: workspace.created_at.toISOString(),
  }
}

export function memberBody(member: Member) {
  return { ...member, joined_at: member.joined_at.toISOString() }
}

export const invitationExample = {
  invitation_id: '0197f3a2-7c1e-7000-8000-00000000000e',
  workspace_id: workspaceExample.workspace_id,
  workspace_name: workspaceExample.name,
  role: 'developer',
  email: 'grace@example.com',
  created_at: '2026-01-31T09:00:00.000Z',
  expires_at: null,
}

export const invitationLinkExample = {
  link: 'https://voice.example.com/account/signup#token=Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3b',
  token: 'Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3b',
  expires_at: '2026-02-07T09:00:00.000Z',
}

export function invitationBody({ id, created_at, expires_at, ...invitation }: Invitation) {
  return {
    invitation_id: id,
    ...invitation,
    created_at: created_at.toISOString(),
    expires_at: expires_at?.toISOString() ?? null,
  }
}
