import { useState } from 'react'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'

interface DevicesProps {
  disabled: boolean
  onMicrophone: (deviceId: string) => Promise<void> | undefined
  onSpeaker: (deviceId: string) => Promise<void> | undefined
}

/** Which microphone and which speaker, while the call runs. */
export function Devices({ disabled, onMicrophone, onSpeaker }: DevicesProps) {
  const [devices, setDevices] = useState<readonly MediaDeviceInfo[]>([])
  const [chosen, setChosen] = useState<Readonly<Partial<Record<MediaDeviceKind, string>>>>({})
  const items = (kind: MediaDeviceKind, use: DevicesProps['onMicrophone']): MenuItem[] =>
    devices
      .filter((device) => device.kind === kind && device.deviceId !== '')
      .map(({ deviceId, label }) => ({
        key: `${kind} ${deviceId}`,
        label: label || t('Without a name'),
        icon: kind === 'audioinput' ? 'mic' : 'live',
        checked: (chosen[kind] ?? 'default') === deviceId,
        onSelect: () => {
          setChosen((before) => ({ ...before, [kind]: deviceId }))
          use(deviceId)?.catch((error: Error) => toast(error.message, 'bad'))
        },
      }))
  return (
    <Menu
      items={[...items('audioinput', onMicrophone), ...items('audiooutput', onSpeaker)]}
      onOpen={() => void navigator.mediaDevices.enumerateDevices().then(setDevices)}
      trigger={<Button aria-label={t('Microphone and speaker')} disabled={disabled} icon="settings" />}
    />
  )
}
