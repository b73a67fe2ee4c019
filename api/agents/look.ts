import { type Static, Type } from 'typebox'
import type { PublicLook } from '../../store/database/schema.ts'
import { Nullable } from '../schema.ts'

/** How a public agent looks to visitors: in the widget, and on its page /talk/{agent_id}. */

const MAX_AVATAR_CHARS = 16_384

export const DEFAULT_LOOK: PublicLook = {
  color: null,
  avatar: null,
  greeting: '',
  corner: 'bottom_right',
  theme: 'auto',
}

const fields = {
  color: Nullable(
    Type.String({
      pattern: '^#[0-9a-fA-F]{6}$',
      description: 'Of buttons and of what the visitor says, as `#0b6b66`; null: the default.',
    }),
  ),
  avatar: Nullable(
    Type.String({
      pattern: '^data:image/(?:png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$',
      maxLength: MAX_AVATAR_CHARS,
      description: 'A square picture as a `data:` URL of PNG, JPEG or WebP, up to 16,384 characters; null: none.',
    }),
  ),
  greeting: Type.String({ maxLength: 300, description: 'Shown before the call.' }),
  corner: Type.Enum(['bottom_right', 'bottom_left'], { description: 'Where the widget floats.' }),
  theme: Type.Enum(['auto', 'light', 'dark'], { description: '`auto`: as the visitor’s system.' }),
}

export const LookInput = Type.Partial(Type.Object(fields), {
  description: 'How the widget and the agent’s page look. A field that is left out has its default.',
})

export const LookBody = Type.Object(fields)

/** The whole look; what was left out has its default. */
export const lookOf = (input: Static<typeof LookInput> | undefined): PublicLook => ({ ...DEFAULT_LOOK, ...input })
