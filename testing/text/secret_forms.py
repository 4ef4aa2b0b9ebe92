"""Secrets as people and tools write them down: by a setting's name, in a header, an option, a URL, a hash, a key file.

Every secret is made up. They are put together here, because GitHub refuses pushes with some of them.
"""

PASSWORD = "Kj8#vQ2!" + "mZkd92"
TOKEN = "q7RkZ2mV" + "x9TbLw4NcP8sYd3H"
BASE32 = "JBQW4Z3F" + "OIQGC3TE"
SALTED = "Xb7Rq2Lw" + "Zs9Kd4Nv"
LONG = f"{TOKEN}{SALTED}{TOKEN}"[:64]

SECRET_FORMS: dict[str, tuple[str, str]] = {
    "environment": (f"DB_PASSWORD={PASSWORD}", PASSWORD),
    "exported": (f"export SMTP_PASS={PASSWORD}", PASSWORD),
    "environment in quotes": (f'DB_PASSWORD="{PASSWORD}"', PASSWORD),
    "properties": (f"spring.datasource.password={PASSWORD}", PASSWORD),
    "properties with blanks": (f"db.passwd = {PASSWORD}", PASSWORD),
    "YAML": (f"  password: {PASSWORD}", PASSWORD),
    "JSON": (f'{{"db_password": "{PASSWORD}", "port": 5432}}', PASSWORD),
    "JSON in a string": (f'"{{\\"password\\":\\"{PASSWORD}\\"}}"', PASSWORD),
    "Ruby": (f":password => '{PASSWORD}'", PASSWORD),
    "Markdown": (f"**Password:** {PASSWORD}", PASSWORD),
    "Laravel": (f"APP_KEY=base64:{LONG[:43]}=", LONG[:43]),
    "XML": (f"<password>{PASSWORD}</password>", PASSWORD),
    "XML of words": ("<clientSecret>sunflower</clientSecret>", "sunflower"),
    "URL with #": (f"postgres://shop:{PASSWORD}@db.acme.com/x", PASSWORD),
    "URL with /": ("amqp://shop:Kj8/vQ2/mZkd@mq.acme.com", "Kj8/vQ2/mZkd"),
    "URL with @": ("redis://:Kj8@vQ2@mZkd@cache.acme.com", "Kj8@vQ2@mZkd"),
    "URL with ?": ("mysql://shop:Kj8?vQ2mZkd@db.acme.com", "Kj8?vQ2mZkd"),
    "Azure SAS": (f"https://acme.blob.core.windows.net/a?sv=2022-11-02&sr=b&sig={TOKEN}%2Fab%3D", TOKEN),
    "Amazon S3": (f"https://acme.s3.amazonaws.com/a?X-Amz-Expires=60&X-Amz-Signature={TOKEN}{TOKEN}", TOKEN),
    "Service Bus": (f"Endpoint=sb://acme/;SharedAccessKeyName=a;SharedAccessKey={LONG[:43]}=", LONG[:43]),
    "API key in a URL": (f"https://api.acme.com/v1?apikey={TOKEN}&page=2", TOKEN),
    "token in a URL": (f"GET /v1?page=2&access_token={TOKEN} HTTP/1.1", TOKEN),
    "Discord webhook": (f"https://discord.com/api/webhooks/123456789012345678/{TOKEN}{TOKEN}_-ab", TOKEN),
    "Zapier webhook": ("https://hooks.zapier.com/hooks/catch/1234567/b2x9qk7/", "b2x9qk7"),
    "curl -u": ("curl -u admin:sunflower https://acme.com", "sunflower"),
    "curl -u with signs": (f"curl -sSu admin:{PASSWORD} https://acme.com", PASSWORD),
    "curl -u in quotes": (f"curl -X POST \\\n  --user 'admin:{PASSWORD}' https://acme.com", PASSWORD),
    "mysql -p": ("mysql -u root -psunflower shop", "sunflower"),
    "mysqldump -p": (f"mysqldump -h db -u root -p'{PASSWORD}' shop", PASSWORD),
    "sshpass -p": ("sshpass -p sunflower ssh root@acme.com", "sunflower"),
    "docker login": (f"docker login -u shop -p {PASSWORD} registry.acme.com", PASSWORD),
    "redis-cli -a": ("redis-cli -h cache -a sunflower ping", "sunflower"),
    "--password": (f"tool --user shop --password {PASSWORD}", PASSWORD),
    "Cookie": (f"Cookie: theme=dark; sessionid={TOKEN}; csrftoken={SALTED}", TOKEN),
    "second cookie": (f"Cookie: theme=dark; sessionid={TOKEN}; csrftoken={SALTED}", SALTED),
    "first of two cookies": (f"Cookie: sessionid={TOKEN}; csrftoken={SALTED}", TOKEN),
    "cookie after JSON": (f'Cookie: prefs={{"a":[1,2]}}; sessionid={TOKEN}', TOKEN),
    "cookie of curl": (f"curl -H 'Cookie: sid={TOKEN}' https://acme.com", TOKEN),
    "Set-Cookie": (f"Set-Cookie: sessionid={TOKEN}; Path=/; HttpOnly", TOKEN),
    ".netrc": ("machine acme.com login shop password sunflower", "sunflower"),
    ".netrc in lines": ("machine acme.com\n  login shop\n  password sunflower\n", "sunflower"),
    ".netrc of all machines": ("default login shop password sunflower", "sunflower"),
    ".pgpass": (f"db.acme.com:5432:shop:admin:{PASSWORD}", PASSWORD),
    "htpasswd, MD5": (f"shop:$apr1$Xb7Rq2Lw${TOKEN[:22]}", TOKEN[:22]),
    "htpasswd, bcrypt": (f"shop:$2y$05${LONG[:53]}", LONG[:53]),
    "htpasswd, SHA-1": (f"shop:{{SHA}}{TOKEN}abc=", TOKEN),
    "shadow, SHA-512": (f"root:$6$Xb7Rq2LwZs9Kd4Nv${LONG}{SALTED}abcdef:19000:0:99999:7:::", LONG),
    "shadow, yescrypt": (f"root:$y$j9T$Xb7Rq2LwZs9Kd4Nv${LONG[:43]}:19000:0:99999:7:::", LONG[:43]),
    "Argon2": (f"$argon2id$v=19$m=65536,t=3,p=4$Xb7Rq2LwZs9Kd4Nv${LONG[:43]}", LONG[:43]),
    "Windows hashes": (f"Administrator:500:{'a9' * 16}:{'3d' * 16}:::", "3d" * 16),
    "one-time password": (f"otpauth://totp/Acme:shop?secret={BASE32}&issuer=Acme", BASE32),
    "PuTTY": (f"Private-Lines: 2\r\n{LONG}\r\n{SALTED}=\r\nPrivate-MAC: {'0a' * 20}", LONG),
    "last line of PuTTY": (f"Private-Lines: 2\r\n{LONG}\r\n{SALTED}=\r\nPrivate-MAC: {'0a' * 20}", SALTED),
    "short key of PuTTY": (f"Private-Lines: 1\n{TOKEN}ABCDEFGHIJK=\nPrivate-MAC: {'0a' * 20}", TOKEN),
    "OpenVPN": (
        f"-----BEGIN OpenVPN Static key V1-----\n{'1f9c' * 8}\n{'2e8b' * 8}\n-----END OpenVPN Static key V1-----",
        "2e8b" * 8,
    ),
    "SSH2": (
        f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{LONG}\n{SALTED}=\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        SALTED,
    ),
}
"""Name of the form to a text of it and the secret in it."""
