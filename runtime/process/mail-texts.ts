/** What the product writes by mail, in each language that it speaks. */

export const MAIL_LANGUAGES = ['en', 'de', 'es', 'fr', 'it', 'pt', 'nl', 'pl', 'sv', 'tr', 'ja', 'hi'] as const
export type MailLanguage = (typeof MAIL_LANGUAGES)[number]

export interface MailText {
  subject: string
  text: string
}

/** Why a webhook was switched off. */
export type WebhookFault = 'gone' | 'failing'

/** Of a user whose language is not known, or is one of a later version: English. */
type Reader = string | null | undefined

export function passwordResetMail(reader: Reader, { link }: { link: string }): MailText {
  const { greeting, passwordReset } = sentencesFor(reader)
  return mailOf(passwordReset.subject, [greeting, passwordReset.lead, link, passwordReset.end])
}

export function verificationMail(reader: Reader, { link }: { link: string }): MailText {
  const { greeting, verification } = sentencesFor(reader)
  return mailOf(verification.subject, [greeting, verification.lead, link])
}

/** `address`: of the installation. */
export function invitationMail(
  reader: Reader,
  { inviter, to, address, link }: { inviter: string; to: 'installation' | 'workspace'; address: string; link: string },
): MailText {
  const { greeting, invitation } = sentencesFor(reader)
  return mailOf(invitation.subject, [greeting, `${invitation[to](inviter, address)} ${invitation.signUp}`, link])
}

/** `page`: of the webhook, in the console. */
export function webhookOffMail(
  reader: Reader,
  { url, fault, page }: { url: string; fault: WebhookFault; page: string },
): MailText {
  const { greeting, webhookOff } = sentencesFor(reader)
  return mailOf(webhookOff.subject, [greeting, webhookOff[fault](url), webhookOff.again, page])
}

const mailOf = (subject: string, paragraphs: readonly string[]): MailText => ({
  subject,
  text: `${paragraphs.join('\n\n')}\n`,
})

interface Sentences {
  /** The sentence behind it begins as the language has it. */
  greeting: string
  passwordReset: { subject: string; lead: string; end: string }
  verification: { subject: string; lead: string }
  invitation: {
    subject: string
    installation(inviter: string, address: string): string
    workspace(inviter: string, address: string): string
    signUp: string
  }
  webhookOff: { subject: string; again: string } & Record<WebhookFault, (url: string) => string>
}

function sentencesFor(reader: Reader): Sentences {
  return SENTENCES[MAIL_LANGUAGES.find((language) => language === reader) ?? 'en']
}

const SENTENCES: Readonly<Record<MailLanguage, Sentences>> = {
  en: {
    greeting: 'Hello,',
    passwordReset: {
      subject: 'Reset your password',
      lead: 'Choose a new password for Patchbay with this link, which works for an hour:',
      end: 'If you did not ask for this, do nothing.',
    },
    verification: {
      subject: 'Confirm your e-mail address',
      lead: 'Confirm your e-mail address for Patchbay here:',
    },
    invitation: {
      subject: 'Your invitation',
      installation: (inviter, address) => `${inviter} has invited you to Patchbay at ${address}.`,
      workspace: (inviter, address) => `${inviter} has invited you to a workspace of Patchbay at ${address}.`,
      signUp: 'Sign up here within a week:',
    },
    webhookOff: {
      subject: 'A webhook was switched off',
      gone: (url) => `The receiver answered 410 Gone, so Patchbay no longer sends events to ${url}.`,
      failing: (url) => `Every attempt failed for five days, so Patchbay no longer sends events to ${url}.`,
      again: 'Once it works again, switch the webhook on and have it sent what it missed:',
    },
  },
  de: {
    greeting: 'Guten Tag,',
    passwordReset: {
      subject: 'Passwort zurücksetzen',
      lead: 'über diesen Link legen Sie innerhalb einer Stunde ein neues Passwort für Patchbay fest:',
      end: 'Haben Sie das nicht angefordert, brauchen Sie nichts zu tun.',
    },
    verification: {
      subject: 'E-Mail-Adresse bestätigen',
      lead: 'über diesen Link bestätigen Sie Ihre E-Mail-Adresse für Patchbay:',
    },
    invitation: {
      subject: 'Ihre Einladung',
      installation: (inviter, address) => `${inviter} hat Sie zu Patchbay unter ${address} eingeladen.`,
      workspace: (inviter, address) =>
        `${inviter} hat Sie in einen Arbeitsbereich von Patchbay unter ${address} eingeladen.`,
      signUp: 'Registrieren Sie sich innerhalb einer Woche über diesen Link:',
    },
    webhookOff: {
      subject: 'Ein Webhook wurde ausgeschaltet',
      gone: (url) =>
        `der Empfänger hat mit 410 Gone geantwortet. Patchbay sendet deshalb keine Ereignisse mehr an ${url}.`,
      failing: (url) =>
        `fünf Tage lang schlug jeder Versuch fehl. Patchbay sendet deshalb keine Ereignisse mehr an ${url}.`,
      again: 'Sobald der Empfänger wieder antwortet, schalten Sie den Webhook ein und lassen nachsenden, was fehlt:',
    },
  },
  es: {
    greeting: 'Hola:',
    passwordReset: {
      subject: 'Restablecer la contraseña',
      lead: 'Elija una contraseña nueva para Patchbay con este enlace, válido durante una hora:',
      end: 'Si no lo ha solicitado, no tiene que hacer nada.',
    },
    verification: {
      subject: 'Confirmar la dirección de correo electrónico',
      lead: 'Confirme aquí su dirección de correo electrónico para Patchbay:',
    },
    invitation: {
      subject: 'Su invitación',
      installation: (inviter, address) => `${inviter} le invita a usar Patchbay en ${address}.`,
      workspace: (inviter, address) => `${inviter} le invita a un espacio de trabajo de Patchbay en ${address}.`,
      signUp: 'Regístrese aquí en el plazo de una semana:',
    },
    webhookOff: {
      subject: 'Se ha desactivado un webhook',
      gone: (url) => `El receptor respondió 410 Gone, por lo que Patchbay ya no envía eventos a ${url}.`,
      failing: (url) =>
        `Durante cinco días fallaron todos los intentos, por lo que Patchbay ya no envía eventos a ${url}.`,
      again: 'Cuando vuelva a funcionar, active el webhook y haga que reciba los eventos que faltan:',
    },
  },
  fr: {
    greeting: 'Bonjour,',
    passwordReset: {
      subject: 'Réinitialisation de votre mot de passe',
      lead: 'Choisissez un nouveau mot de passe pour Patchbay avec ce lien, valable une heure\u00a0:',
      end: 'Si vous n’avez rien demandé, vous n’avez rien à faire.',
    },
    verification: {
      subject: 'Confirmation de votre adresse e-mail',
      lead: 'Confirmez ici votre adresse e-mail pour Patchbay\u00a0:',
    },
    invitation: {
      subject: 'Votre invitation',
      installation: (inviter, address) => `${inviter} vous invite à utiliser Patchbay sur ${address}.`,
      workspace: (inviter, address) => `${inviter} vous invite dans un espace de travail de Patchbay sur ${address}.`,
      signUp: 'Inscrivez-vous ici, le lien est valable une semaine\u00a0:',
    },
    webhookOff: {
      subject: 'Un webhook a été désactivé',
      gone: (url) => `Le destinataire a répondu 410 Gone. Patchbay n’envoie donc plus d’événements à ${url}.`,
      failing: (url) =>
        `Toutes les tentatives ont échoué pendant cinq jours. Patchbay n’envoie donc plus d’événements à ${url}.`,
      again: 'Dès qu’il répond à nouveau, réactivez le webhook et faites-lui envoyer ce qu’il a manqué\u00a0:',
    },
  },
  it: {
    greeting: 'Buongiorno,',
    passwordReset: {
      subject: 'Reimpostazione della password',
      lead: 'con questo link può scegliere entro un’ora una nuova password per Patchbay:',
      end: 'Se non ne ha fatto richiesta, non deve fare nulla.',
    },
    verification: {
      subject: 'Conferma dell’indirizzo e-mail',
      lead: 'confermi qui il suo indirizzo e-mail per Patchbay:',
    },
    invitation: {
      subject: 'Il suo invito',
      installation: (inviter, address) => `${inviter} le ha inviato un invito a Patchbay su ${address}.`,
      workspace: (inviter, address) =>
        `${inviter} le ha inviato un invito a un’area di lavoro di Patchbay su ${address}.`,
      signUp: 'Si registri qui entro una settimana:',
    },
    webhookOff: {
      subject: 'Un webhook è stato disattivato',
      gone: (url) => `il destinatario ha risposto 410 Gone, quindi Patchbay non invia più eventi a ${url}.`,
      failing: (url) => `per cinque giorni ogni tentativo è fallito, quindi Patchbay non invia più eventi a ${url}.`,
      again: 'Quando funzionerà di nuovo, attivi il webhook e gli faccia inviare gli eventi mancanti:',
    },
  },
  pt: {
    greeting: 'Olá,',
    passwordReset: {
      subject: 'Redefinição da senha',
      lead: 'Escolha uma nova senha para o Patchbay com este link, válido por uma hora:',
      end: 'Se não fez este pedido, não é preciso fazer nada.',
    },
    verification: {
      subject: 'Confirmação do endereço de e-mail',
      lead: 'Confirme aqui o seu endereço de e-mail para o Patchbay:',
    },
    invitation: {
      subject: 'Seu convite',
      installation: (inviter, address) => `${inviter} enviou um convite para o Patchbay em ${address}.`,
      workspace: (inviter, address) =>
        `${inviter} enviou um convite para um espaço de trabalho do Patchbay em ${address}.`,
      signUp: 'Faça seu cadastro aqui no prazo de uma semana:',
    },
    webhookOff: {
      subject: 'Um webhook foi desativado',
      gone: (url) => `O destinatário respondeu 410 Gone, por isso o Patchbay não envia mais eventos para ${url}.`,
      failing: (url) =>
        `Durante cinco dias todas as tentativas falharam, por isso o Patchbay não envia mais eventos para ${url}.`,
      again: 'Quando voltar a funcionar, ative o webhook e reenvie os eventos que faltam:',
    },
  },
  nl: {
    greeting: 'Hallo,',
    passwordReset: {
      subject: 'Wachtwoord opnieuw instellen',
      lead: 'Met deze link kiest u binnen een uur een nieuw wachtwoord voor Patchbay:',
      end: 'Hebt u hier niet om gevraagd, dan hoeft u niets te doen.',
    },
    verification: {
      subject: 'E-mailadres bevestigen',
      lead: 'Bevestig hier uw e-mailadres voor Patchbay:',
    },
    invitation: {
      subject: 'Uw uitnodiging',
      installation: (inviter, address) => `${inviter} heeft u uitgenodigd voor Patchbay op ${address}.`,
      workspace: (inviter, address) => `${inviter} heeft u uitgenodigd voor een werkruimte van Patchbay op ${address}.`,
      signUp: 'Registreer u hier binnen een week:',
    },
    webhookOff: {
      subject: 'Er is een webhook uitgeschakeld',
      gone: (url) => `De ontvanger antwoordde 410 Gone. Patchbay stuurt daarom geen gebeurtenissen meer naar ${url}.`,
      failing: (url) =>
        `Vijf dagen lang is elke poging mislukt. Patchbay stuurt daarom geen gebeurtenissen meer naar ${url}.`,
      again: 'Zodra de ontvanger weer antwoordt, schakelt u de webhook in en laat u nasturen wat is gemist:',
    },
  },
  pl: {
    greeting: 'Dzień dobry,',
    passwordReset: {
      subject: 'Ustawienie nowego hasła',
      lead: 'ten link pozwala w ciągu godziny ustawić nowe hasło do Patchbay:',
      end: 'Jeśli o to nie proszono, nie trzeba nic robić.',
    },
    verification: {
      subject: 'Potwierdzenie adresu e-mail',
      lead: 'prosimy potwierdzić tutaj adres e-mail w Patchbay:',
    },
    invitation: {
      subject: 'Zaproszenie',
      installation: (inviter, address) => `${inviter} zaprasza do Patchbay pod adresem ${address}.`,
      workspace: (inviter, address) => `${inviter} zaprasza do przestrzeni roboczej w Patchbay pod adresem ${address}.`,
      signUp: 'Link do rejestracji jest ważny przez tydzień:',
    },
    webhookOff: {
      subject: 'Webhook został wyłączony',
      gone: (url) => `odbiorca odpowiedział 410 Gone, dlatego Patchbay nie wysyła już zdarzeń do ${url}.`,
      failing: (url) =>
        `przez pięć dni każda próba kończyła się niepowodzeniem, dlatego Patchbay nie wysyła już zdarzeń do ${url}.`,
      again: 'Gdy odbiorca znów zacznie odpowiadać, należy włączyć webhook i zlecić wysłanie brakujących zdarzeń:',
    },
  },
  sv: {
    greeting: 'Hej!',
    passwordReset: {
      subject: 'Återställ ditt lösenord',
      lead: 'Välj ett nytt lösenord för Patchbay med den här länken, som gäller i en timme:',
      end: 'Om du inte har bett om detta behöver du inte göra något.',
    },
    verification: {
      subject: 'Bekräfta din e-postadress',
      lead: 'Bekräfta din e-postadress för Patchbay här:',
    },
    invitation: {
      subject: 'Din inbjudan',
      installation: (inviter, address) => `${inviter} har bjudit in dig till Patchbay på ${address}.`,
      workspace: (inviter, address) => `${inviter} har bjudit in dig till en arbetsyta i Patchbay på ${address}.`,
      signUp: 'Registrera dig här inom en vecka:',
    },
    webhookOff: {
      subject: 'En webhook har stängts av',
      gone: (url) => `Mottagaren svarade 410 Gone, så Patchbay skickar inte längre händelser till ${url}.`,
      failing: (url) => `Alla försök misslyckades i fem dagar, så Patchbay skickar inte längre händelser till ${url}.`,
      again: 'När mottagaren svarar igen slår du på webhooken och låter den få det som saknas:',
    },
  },
  tr: {
    greeting: 'Merhaba,',
    passwordReset: {
      subject: 'Parolanızı sıfırlayın',
      lead: 'Bir saat geçerli olan bu bağlantıyla Patchbay için yeni bir parola belirleyin:',
      end: 'Bu isteği siz yapmadıysanız bir şey yapmanız gerekmez.',
    },
    verification: {
      subject: 'E-posta adresinizi doğrulayın',
      lead: 'Patchbay için e-posta adresinizi buradan doğrulayın:',
    },
    invitation: {
      subject: 'Davetiniz',
      installation: (inviter, address) => `${inviter} sizi ${address} adresindeki Patchbay’e davet etti.`,
      workspace: (inviter, address) =>
        `${inviter} sizi ${address} adresindeki Patchbay’in bir çalışma alanına davet etti.`,
      signUp: 'Bir hafta içinde buradan kaydolun:',
    },
    webhookOff: {
      subject: 'Bir webhook kapatıldı',
      gone: (url) => `Alıcı 410 Gone yanıtını verdi, bu yüzden Patchbay artık ${url} adresine olay göndermiyor.`,
      failing: (url) =>
        `Beş gün boyunca her deneme başarısız oldu, bu yüzden Patchbay artık ${url} adresine olay göndermiyor.`,
      again: 'Alıcı yeniden yanıt verdiğinde webhook’u açın ve eksik olayların gönderilmesini sağlayın:',
    },
  },
  ja: {
    greeting: 'Patchbayからのお知らせです。',
    passwordReset: {
      subject: 'パスワードの再設定',
      lead: '1時間以内に、次のリンクからPatchbayの新しいパスワードを設定してください。',
      end: 'お心当たりがない場合は、何もする必要はありません。',
    },
    verification: {
      subject: 'メールアドレスの確認',
      lead: '次のリンクから、Patchbayで使うメールアドレスを確認してください。',
    },
    invitation: {
      subject: '招待のお知らせ',
      installation: (inviter, address) => `${inviter} さんから、${address} のPatchbayへの招待が届いています。`,
      workspace: (inviter, address) =>
        `${inviter} さんから、${address} のPatchbayのワークスペースへの招待が届いています。`,
      signUp: '1週間以内に次のリンクから登録してください。',
    },
    webhookOff: {
      subject: 'Webhookが無効になりました',
      gone: (url) => `受信側が 410 Gone を返したため、Patchbayは ${url} へのイベントの送信を停止しました。`,
      failing: (url) => `5日間すべての送信に失敗したため、Patchbayは ${url} へのイベントの送信を停止しました。`,
      again: '受信側が復旧したら、次のページでWebhookを有効にし、届いていないイベントを再送してください。',
    },
  },
  hi: {
    greeting: 'नमस्ते,',
    passwordReset: {
      subject: 'अपना पासवर्ड रीसेट करें',
      lead: 'एक घंटे तक मान्य इस लिंक से Patchbay के लिए नया पासवर्ड चुनें:',
      end: 'अगर आपने यह अनुरोध नहीं किया है, तो कुछ करने की ज़रूरत नहीं है।',
    },
    verification: {
      subject: 'अपने ईमेल पते की पुष्टि करें',
      lead: 'Patchbay के लिए अपने ईमेल पते की पुष्टि यहाँ करें:',
    },
    invitation: {
      subject: 'आपका आमंत्रण',
      installation: (inviter, address) => `${inviter} ने आपको ${address} पर Patchbay में आमंत्रित किया है।`,
      workspace: (inviter, address) => `${inviter} ने आपको ${address} पर Patchbay के एक वर्कस्पेस में आमंत्रित किया है।`,
      signUp: 'एक हफ़्ते के भीतर यहाँ साइन अप करें:',
    },
    webhookOff: {
      subject: 'एक वेबहुक बंद कर दिया गया है',
      gone: (url) => `प्राप्तकर्ता ने 410 Gone जवाब दिया, इसलिए Patchbay अब ${url} पर इवेंट नहीं भेजता।`,
      failing: (url) => `पाँच दिनों तक हर कोशिश नाकाम रही, इसलिए Patchbay अब ${url} पर इवेंट नहीं भेजता।`,
      again: 'प्राप्तकर्ता फिर जवाब देने लगे, तो वेबहुक चालू करें और छूटे हुए इवेंट भिजवाएँ:',
    },
  },
}
