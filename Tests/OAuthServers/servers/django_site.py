"""A site of one file with django-oauth-toolkit: rotation on, reuse ends the login. Arguments: PORT FOLDER."""

import subprocess
import sys
from pathlib import Path

PORT, FOLDER = sys.argv[1], Path(sys.argv[2])
BASE = f"http://127.0.0.1:{PORT}"
KEY = FOLDER / "rsa.pem"
if not KEY.exists():
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-out", KEY], check=True, stderr=subprocess.DEVNULL)

import django  # noqa: E402
from django.conf import settings  # noqa: E402

settings.configure(
    SECRET_KEY="test", DEBUG=False, ALLOWED_HOSTS=["127.0.0.1", "localhost"], ROOT_URLCONF=__name__, USE_TZ=True,
    LOGIN_URL="/accounts/login/",
    INSTALLED_APPS=[
        "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
        "django.contrib.messages", "oauth2_provider"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware"],
    TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
        "OPTIONS": {"context_processors": [
            "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
            "django.contrib.messages.context_processors.messages"]}}],
    DATABASES={"default": {
        "ENGINE": "django.db.backends.sqlite3", "NAME": str(FOLDER / "site.db"),
        "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE"}}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", STATIC_URL="/static/",
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True, "OIDC_RSA_PRIVATE_KEY": KEY.read_text(), "OIDC_ISS_ENDPOINT": BASE,
        "SCOPES": {"openid": "OpenID", "api": "API"}, "ACCESS_TOKEN_EXPIRE_SECONDS": 60,
        "REFRESH_TOKEN_EXPIRE_SECONDS": 3600, "ROTATE_REFRESH_TOKEN": True, "REFRESH_TOKEN_REUSE_PROTECTION": True,
        "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0, "PKCE_REQUIRED": True, "DEVICE_FLOW_INTERVAL": 1,
        "ALLOW_LOCALHOST_LOOPBACK": True, "ALLOWED_SCHEMES": ["https", "http"],
        "OAUTH_DEVICE_VERIFICATION_URI": BASE + "/device/",
        "OAUTH_DEVICE_VERIFICATION_URI_COMPLETE": lambda code: f"{BASE}/device/?user_code={code}",
        "REQUEST_APPROVAL_PROMPT": "force", "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
        "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True})
django.setup()

from django.contrib import admin  # noqa: E402
from django.contrib.auth import get_user_model, views  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.urls import include, path  # noqa: E402

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/login/", views.LoginView.as_view(
        template_name="admin/login.html",
        extra_context={"title": "Log in", "site_title": "AS", "site_header": "AS"})),
    path("", include("oauth2_provider.urls", namespace="oauth2_provider")),
]

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    from oauth2_provider.models import Application

    alice = get_user_model().objects.create_superuser("alice", "alice@example.test", "alicepw")
    for name, kind, grant, secret in [
        ("conf1", Application.CLIENT_CONFIDENTIAL, Application.GRANT_AUTHORIZATION_CODE, "conf1secret"),
        ("pub1", Application.CLIENT_PUBLIC, Application.GRANT_AUTHORIZATION_CODE, ""),
        ("dev1", Application.CLIENT_PUBLIC, Application.GRANT_DEVICE_CODE, ""),
        ("cc1", Application.CLIENT_CONFIDENTIAL, Application.GRANT_CLIENT_CREDENTIALS, "cc1secret"),
    ]:
        Application.objects.create(
            client_id=name, client_secret=secret, name=name, client_type=kind, authorization_grant_type=grant,
            user=alice, algorithm="RS256", redirect_uris="http://127.0.0.1:8765/cb http://127.0.0.1/cb")
    call_command("runserver", f"127.0.0.1:{PORT}", use_reloader=False, skip_checks=True)
